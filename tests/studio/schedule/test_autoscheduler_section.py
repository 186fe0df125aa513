"""What autoschedulers make, put into the list of the page Schedule, and raced."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from optimizer.errors import StudioError
from optimizer.loops.schedule import Parallel, Schedule
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.halide_source.importing import Imported
from profiling.racing.samples import contrast
from profiling.racing.schedules import Standing
from profiling.schedules.autoschedulers import Autoscheduled
from studio.schedule import autoscheduler_section
from studio.schedule.draft import Draft
from studio.schedule.link import ScheduleChoice
from studio.services import tasks
from tests.studio.apps import PATIENCE_S

pytestmark = pytest.mark.usefixtures("own_store")
MADE = Schedule((Parallel("blur_y", "y"),))


def _script() -> None:
    import streamlit as st

    from optimizer.loops.schedule import Schedule
    from optimizer.schedules.examples import EXAMPLES
    from studio.schedule.autoscheduler_section import render_section
    from studio.schedule.link import ScheduleChoice
    from studio.schedule.opened import OpenedSchedule
    from studio.workspace import current

    blur = EXAMPLES["blur"]
    schedules = {one.name: one.schedule for one in blur.schedules}
    render_section(
        OpenedSchedule("blur", blur.title, blur.algorithm, schedules, "tiled", Schedule())
    )
    st.session_state["choice"] = current().of(ScheduleChoice)


def clicked(app: AppTest, label: str) -> AppTest:
    """The page after a click, once what it begins has ended."""
    next(one for one in app.button if label in one.label).click()
    app.run()
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and not any(
        one.label for one in app.button if "again" in one.label
    ):
        time.sleep(0.05)
        app.run()
    return app


@pytest.fixture
def app() -> AppTest:
    tasks().drop(("autoschedule", "blur", "Mullapudi2016"))
    return AppTest.from_function(_script, default_timeout=PATIENCE_S).run()


def test_what_an_autoscheduler_makes_is_put_into_the_list(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Autoscheduled("blur_y.parallel(y);", Imported(MADE, ("f0 is part of an expression",)))

    def making(*_: object, **__: object) -> Autoscheduled:
        return made

    monkeypatch.setattr(autoscheduler_section, "run_autoscheduler", making)
    clicked(app, "Autoschedule")
    assert app.code[0].value == made.source
    assert any("f0 is part" in one.value for one in app.text)
    clicked(app, "Put 1 primitive into the list")
    choice: Any = app.session_state["choice"]
    assert isinstance(choice, ScheduleChoice)
    assert isinstance(choice.draft, Draft)
    assert choice.draft.applied == MADE


def test_an_autoscheduler_that_fails_says_so_on_the_page(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> Autoscheduled:
        raise StudioError("Mullapudi2016 gave up on this algorithm.")

    monkeypatch.setattr(autoscheduler_section, "run_autoscheduler", failing)
    clicked(app, "Autoschedule")
    said = [one.value for one in (*app.text, *app.markdown, *app.error)]
    assert any("gave up on this algorithm" in one for one in said), said


def test_a_race_has_the_first_schedule_the_own_and_those_that_are_made(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[Mapping[str, Schedule | str]] = []

    def race(_: object, entries: Mapping[str, Schedule | str], **__: object) -> list[Standing]:
        entered.append(entries)
        against = contrast([(2.0,)] * 8, [(1.0,)] * 8)
        return [
            Standing("breadth-first", Schedule(), 0, 2.0),
            Standing("the one above", Schedule(), 1, 1.0, against),
            Standing("Li2018", Schedule(), problem="Li2018 was stopped."),
        ]

    def none(*_: object, **__: object) -> Mapping[str, str]:
        return {"Li2018": "Li2018 was stopped."}

    monkeypatch.setattr(autoscheduler_section, "autoschedules", none)
    monkeypatch.setattr(autoscheduler_section, "race_schedules", race)
    clicked(app, "Race them")
    assert list(entered[0]) == ["breadth-first", "the one above", "Li2018"]
    assert entered[0]["breadth-first"] == EXAMPLES["blur"].schedules[0].schedule
    table: Any = app.dataframe[0].value
    assert list(table["speedup"]) == ["", "2.00×", ""]
    assert list(table["steps left out"]) == [0, 1, 0]
    assert table.iloc[2, -1] == "Li2018 was stopped."
