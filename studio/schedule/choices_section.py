"""What to do next: legal steps, the fastest first, each taken with one click."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from optimizer.errors import StudioError
from optimizer.loops.schedule import Primitive, Schedule
from optimizer.numbers import bytes_text, counted, three_digits, times_text
from optimizer.schedules.choices import Choice, Choices
from optimizer.schedules.prediction import NOT_GUESSED
from studio.page.figure import Table, show_twin
from studio.page.launch import launch
from studio.page.parts import run_again_after, show_error, words
from studio.schedule.choices_job import (
    MEASURED,
    Measured,
    choices_task,
    measure,
    measuring_key,
)
from studio.schedule.draft import Draft
from studio.schedule.editing import take_draft
from studio.schedule.link import ScheduleChoice
from studio.schedule.opened import OpenedSchedule
from studio.services import tasks
from studio.workspace import current

_PATIENCE_S = 0.1
_ROWS = 8
_WIDTHS = (1.1, 3.4, 0.9, 0.9, 1.1, 0.8, 1.0, 0.9)
_HEAD = ("Func", "what", "guessed", "measured", "tasks × lanes", "work", "behind L2", "")
_SHOWN, _PROBLEM = "choices-shown", "choices-problem"


def render_section(opened: OpenedSchedule) -> None:
    """The list, and what its best are worth when they run."""
    st.subheader("What to do next", anchor=False)
    task = choices_task(opened)
    run_again_after([] if task.wait(_PATIENCE_S) else [task])
    if task.error is not None:
        show_error(task.error, key="error-choices")
        return
    # Until something is known, what was there before stays: nothing jumps.
    found: Choices | None = task.result or task.partial or st.session_state.get(_SHOWN)
    if found is None:
        return
    st.session_state[_SHOWN] = found
    if problem := st.session_state.pop(_PROBLEM, ""):
        show_error(StudioError(problem), key="error-choice")
    st.caption(_now(found.now_us))
    best = found.choices[:MEASURED]
    _rows(opened, found, _measured(opened))
    if best and task.done and found.now_us is not None:
        _offer_measuring(opened, best)
    _rest(found)


def _now(us: float | None) -> str:
    if us is None:
        return f"{NOT_GUESSED.capitalize()}. Steps come in the order of the loops."
    return (
        f"Now {three_digits(us)} µs, as it is guessed; times as fast as that. The guess is for "
        "ranking: measure before you believe it."
    )


def _times(speedup: float | None) -> str:
    return "" if speedup is None else times_text(speedup)


def _measured(opened: OpenedSchedule) -> Measured:
    task: Any = tasks().get(measuring_key(opened))
    known = None if task is None else task.result or task.partial
    return known or Measured(())


def _rows(opened: OpenedSchedule, found: Choices, measured: Measured) -> None:
    with st.container(key="schedule-choices", gap=None):
        for column, name in zip(st.columns(_WIDTHS), _HEAD, strict=True):
            column.caption(name)
        for number, one in enumerate(found.choices[:_ROWS]):
            known = number < len(measured.effects)
            effect = measured.effects[number] if known else None
            told = "" if effect is None else effect.problem or times_text(effect.speedup)
            _row(opened, number, one, told)


def _row(opened: OpenedSchedule, number: int, one: Choice, measured: str) -> None:
    meters = one.meters
    cells = (
        words(one.step.func), words(one.step.text), _times(one.speedup), words(measured),
        f"{meters.tasks} × {meters.lanes}", times_text(meters.amplification),
        bytes_text(meters.moved[1].moved_bytes),
    )  # fmt: skip
    *columns, last = st.columns(_WIDTHS, vertical_alignment="center")
    for column, cell in zip(columns, cells, strict=True):
        column.markdown(cell)
    last.button(
        "Apply",
        key=f"apply-choice-{number}",
        on_click=partial(_apply, opened, one.step.primitives),
        help=words(f"{one.step.func}: {one.step.text}"),
    )


def _apply(opened: OpenedSchedule, primitives: tuple[Primitive, ...]) -> None:
    """Add a step behind all others, those that are switched off too."""
    held = current().of(ScheduleChoice).draft
    draft = held if isinstance(held, Draft) else Draft(opened.schedule)
    longer = Schedule((*draft.schedule.primitives, *primitives))
    try:
        take_draft(Draft(longer, draft.off))
    except StudioError as error:
        st.session_state[_PROBLEM] = error.message


def _offer_measuring(opened: OpenedSchedule, best: tuple[Choice, ...]) -> None:
    def explain() -> None:
        st.caption(
            f"Runs the first {len(best)}, each in turns with the schedule as it is: some 2 s each, "
            "compiling included."
        )

    def show(_: Measured) -> None:
        st.caption("Measured by medians, in turns with the schedule as it is.")

    launch(
        measuring_key(opened),
        partial(measure, opened, best),
        explain=explain,
        show=show,
        name=f"Measure the best {len(best)}",
        again="Measure again",
    )


def _rest(found: Choices) -> None:
    """All others as tables: slower ones, and what is not possible."""
    slower = found.choices[_ROWS:]
    table: Table = {
        "Func": [one.step.func for one in slower],
        "what": [one.step.text for one in slower],
        "guessed": [_times(one.speedup) for one in slower],
        "tasks × lanes": [f"{one.meters.tasks} × {one.meters.lanes}" for one in slower],
    }
    if slower:
        show_twin(f"{counted(len(slower), 'further step')}", table)
    refused: Table = {
        "Func": [one.step.func for one in found.refused],
        "what": [one.step.text for one in found.refused],
        "why not": [one.reason for one in found.refused],
    }
    if found.refused:
        show_twin(f"{counted(len(found.refused), 'step')} not possible, and why", refused)
    if found.left_out:
        st.caption(f"{counted(found.left_out, 'step')} of Funcs with less to do left out.")
