"""Schedules that autoschedulers make, put into the list and raced: a section of Schedule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.numbers import counted, three_digits
from optimizer.schedules.halide_source.importing import Imported
from profiling.racing.schedules import Standing, autoschedules, race_schedules
from profiling.schedules.autoschedulers import (
    AUTOSCHEDULERS,
    FOR_GPUS,
    Autoscheduled,
    Autoscheduler,
    run_autoscheduler,
)
from studio.page.figure import Table, show_table
from studio.page.launch import launch
from studio.page.parts import show_error, show_message
from studio.schedule.editing import replace_schedule
from studio.schedule.opened import OpenedSchedule
from studio.services import pool

RACE_SECONDS = 3.0
_CHOSEN, _PROBLEM = "autoscheduler-chosen", "autoscheduler-problem"
_RACED = ", ".join(one for one in AUTOSCHEDULERS if one not in FOR_GPUS)
_DOES: dict[Autoscheduler, str] = {
    "Mullapudi2016": "tiles by a formula",
    "Adams2019": "a search led by a learned model of the processor",
    "Li2018": "a vector and threads for everything",
    "Anderson2021": "a search for a GPU, for which none is needed",
}


def render_section(opened: OpenedSchedule) -> None:
    """One autoscheduler to run, and all of them to be raced."""
    st.subheader("Autoschedulers", anchor=False)
    chosen: Autoscheduler = st.segmented_control(
        "Autoscheduler", AUTOSCHEDULERS, default=AUTOSCHEDULERS[0], required=True, key=_CHOSEN,
        label_visibility="collapsed",
    )  # fmt: skip
    launch(
        ("autoschedule", opened.key, chosen),
        partial(_schedule, opened, chosen),
        explain=lambda: _explain(chosen),
        show=_show,
        name="Autoschedule",
        beside=_offer,
    )
    launch(
        ("autoscheduler-race", opened.key, opened.schedule),
        partial(_race, opened),
        explain=_explain_race,
        show=_show_race,
        name="Race them",
        again="Race again",
    )


def _explain(chosen: Autoscheduler) -> None:
    st.caption(f"{chosen}: {_DOES[chosen]}. What it makes can be put into the list above.")


def _explain_race() -> None:
    st.caption(
        f"{_RACED}, the first schedule and the one above, in turns for "
        f"{RACE_SECONDS:g} s after they are made."
    )


def _schedule(
    opened: OpenedSchedule,
    chosen: Autoscheduler,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Autoscheduled:
    """What it makes.

    Raises:
        StudioError: it has no schedule for this, or one that no primitives do.
    """
    progress(f"{chosen} searches", 0.1)
    return run_autoscheduler(opened.algorithm, chosen, pool=pool(), cancelled=cancelled)


def _offer(made: Autoscheduled) -> None:
    primitives = counted(len(made.found.schedule.primitives), "primitive")
    st.button(
        f"Put {primitives} into the list", type="primary", on_click=_take, args=(made.found,),
        key="autoscheduler-take",
    )  # fmt: skip


def _take(found: Imported) -> None:
    st.session_state[_PROBLEM] = None
    try:
        replace_schedule(found.schedule)
    except StudioError as error:
        st.session_state[_PROBLEM] = error


def _show(made: Autoscheduled) -> None:
    problem = st.session_state.get(_PROBLEM)
    if problem is not None:
        show_error(problem, key="error-autoscheduler")
    for number, sentence in enumerate(made.found.left_out):
        show_message(f"Left out: {sentence}.", key=f"autoscheduler-left-{number}")
    with st.expander("As the autoscheduler wrote it"):
        st.code(made.source.strip(), language="cpp")


def _race(
    opened: OpenedSchedule, *, progress: Progress, cancelled: Callable[[], bool]
) -> list[Standing]:
    """Schedules in turns: the first, the one above, those of autoschedulers.

    Raises:
        RunError: a worker died, or took too long.
    """
    first = next(iter(opened.schedules))
    made = autoschedules(opened.algorithm, pool=pool(), progress=progress, cancelled=cancelled)
    progress("running all in turns", 0.8)
    entries = {first: opened.schedules[first], "the one above": opened.schedule, **made}
    return race_schedules(
        opened.algorithm, entries, pool=pool(), seconds=RACE_SECONDS, cancelled=cancelled
    )


def _show_race(standings: list[Standing]) -> None:
    show_table(race_table(standings))
    st.caption(
        "95 % intervals of speedups over the first row, from rounds in which all ran. Steps that "
        "cannot be applied are left out."
    )


def race_table(standings: list[Standing]) -> Table:
    """Who took how long, as a table."""
    table: dict[str, list[object]] = {
        "schedule": [one.name for one in standings],
        "latency, ms": [
            three_digits(one.latency_ms) if not one.problem else "" for one in standings
        ],
        "speedup": [f"{one.against.speedup:.2f}×" if one.against else "" for one in standings],
        "95 % interval": [
            f"{one.against.low:.2f}–{one.against.high:.2f}" if one.against else ""
            for one in standings
        ],
    }
    if any(one.left_out for one in standings):
        table["steps left out"] = [one.left_out for one in standings]
    if any(one.problem for one in standings):
        table["why not"] = [one.problem for one in standings]
    return table
