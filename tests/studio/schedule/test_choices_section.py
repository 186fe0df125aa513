"""The list of what can be done next, on the page."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from optimizer.loops.schedule import Parallel, Schedule, Split
from optimizer.schedules.choices import choices_of
from optimizer.schedules.examples import EXAMPLES
from profiling.cache.folder import cache_folder
from profiling.calibration.loops import machine_here
from profiling.kernels.generated.own_schedules import kept_own
from studio.schedule.choices_job import applied
from studio.schedule.link import ScheduleChoice
from studio.schedule.opened import OpenedSchedule
from studio.services import records
from tests.studio.apps import PATIENCE_S

pytestmark = [pytest.mark.usefixtures("own_store"), pytest.mark.long]
ALGORITHM = EXAMPLES["loop-order"].algorithm


def _script() -> None:
    import streamlit as st

    from optimizer.loops.schedule import Schedule
    from optimizer.schedules.examples import EXAMPLES
    from studio.schedule import candidate_section, choices_section
    from studio.schedule.draft import Draft
    from studio.schedule.link import ScheduleChoice
    from studio.schedule.opened import OpenedSchedule
    from studio.workspace import current

    choice = current().of(ScheduleChoice)
    st.session_state["choice"] = choice
    schedule = choice.draft.applied if isinstance(choice.draft, Draft) else Schedule()
    name = choice.subject.removeprefix("region.")
    kernel = "" if name == choice.subject else name
    algorithm = EXAMPLES["loop-order"].algorithm
    opened = OpenedSchedule(f"a model {name}", "rows", algorithm, {}, "", schedule, kernel)
    choices_section.render_section(opened)
    candidate_section.render_section(opened)


def drawn(**query: str) -> AppTest:
    app = AppTest.from_function(_script, default_timeout=PATIENCE_S)
    for name, text in query.items():
        app.query_params[name] = text
    return until(app.run(), lambda app: "apply-choice-0" in buttons(app))


def until(app: AppTest, there: Callable[[AppTest], bool]) -> AppTest:
    deadline = time.monotonic() + PATIENCE_S
    while not there(app) and time.monotonic() < deadline:
        app.run()
    assert there(app)
    assert not app.exception
    return app


def buttons(app: AppTest) -> list[str]:
    return [one.key or "" for one in app.button]


def test_one_click_takes_the_best_step_and_the_list_goes_on_from_there() -> None:
    app, machine = drawn(), machine_here(cache_folder())
    best = choices_of(ALGORITHM, Schedule(), machine).choices[0]
    assert best.step.text in [one.value for one in app.markdown]
    app.button(key="apply-choice-0").click().run()
    choice: ScheduleChoice = app.session_state["choice"]
    assert choice.draft is not None
    assert "vectorize" in best.step.text
    again = choices_of(ALGORITHM, best.schedule, machine).choices[0]
    until(app, lambda app: again.step.text in [one.value for one in app.markdown])


def test_the_best_can_be_measured_in_turns() -> None:
    pytest.importorskip("halide")
    app = drawn()
    app.button(key="start-Measure the best 5").click().run()
    until(app, lambda app: any(one.value.startswith("Measured by") for one in app.caption))


def test_what_cannot_be_applied_is_left_out_of_what_choices_go_on_from() -> None:
    gone, kept = Parallel("scaled", "nowhere"), Split("scaled", "j", "jo", "ji", 8)
    opened = OpenedSchedule("k", "t", ALGORITHM, {}, "", Schedule((gone, kept)))
    assert applied(opened) == Schedule((kept,))


def test_a_schedule_of_a_region_is_kept_as_a_candidate_with_one_click() -> None:
    app = drawn(loops="region.Mul_Relu_0123456789abcdef")
    app.text_input(key="candidate-name").set_value("quick").run()
    app.button(key="keep-candidate").click().run()
    (own,) = kept_own("Mul_Relu_0123456789abcdef", records())
    assert (own.name, own.schedule) == ("quick", Schedule())
    assert "quick, 0 primitives: not taken so far." in [one.value for one in app.text]
    app.button(key="take-back-0").click().run()
    assert kept_own(own.kernel, records()) == ()
    assert any("Took back quick" in one.value for one in app.text)
