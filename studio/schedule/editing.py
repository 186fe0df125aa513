"""Edits of the schedule that the page shows: each can be undone, and redone."""

from __future__ import annotations

import streamlit as st

from optimizer.loops.schedule import Schedule
from studio.schedule.draft import Draft, checked
from studio.schedule.link import REGION, ScheduleChoice
from studio.workspace import current, remember

MOST_UNDONE = 100
_UNDO, _REDO, _SEQ = "schedule-undo", "schedule-redo", "schedule-seq"
_SHOWN = "schedule-shown"


def replace_schedule(schedule: Schedule) -> None:
    """Put another schedule into the page, as one edit that can be undone.

    Raises:
        StudioError: it is too long to be drawn.
    """
    take_draft(Draft(schedule))


def take_draft(draft: Draft, step: int | None = None) -> None:
    """Show another list of primitives.

    Args:
        draft: all of them.
        step: after how many of those that are on the nest is shown; None for all.

    Raises:
        StudioError: it is too long to be drawn.
    """
    choice, shown = current().of(ScheduleChoice), st.session_state.get(_SHOWN, "")
    if choice.nodes and shown.startswith(REGION):
        choice = choice.opening(shown)  # not before: an address that changes is in back's way
    _take(choice.having(checked(draft), step))


def take_subject(subject: str, order: str = "") -> None:
    """Show another algorithm, or another of its schedules."""
    _take(current().of(ScheduleChoice).opening(subject, order))


def undo() -> None:
    """Back to what was shown before the last edit."""
    _go(_UNDO, _REDO)


def redo() -> None:
    """Forth again."""
    _go(_REDO, _UNDO)


def undoable() -> tuple[bool, bool]:
    """Whether there is something to undo, and to redo."""
    return bool(_stack(_UNDO)), bool(_stack(_REDO))


def shows(subject: str) -> None:
    """Tell the browser where another subject is shown than before, so that its step is, too.

    A region that was looked for takes the place of an example.
    """
    if st.session_state.get(_SHOWN, subject) != subject:
        st.session_state[_SEQ] = edits() + 1
    st.session_state[_SHOWN] = subject


def edits() -> int:
    """How many there were: the browser takes over the step that is shown after each."""
    return st.session_state.get(_SEQ, 0)


def _take(choice: ScheduleChoice) -> None:
    before = current().of(ScheduleChoice)
    if choice == before:
        return
    st.session_state[_UNDO] = (*_stack(_UNDO), before)[-MOST_UNDONE:]
    st.session_state[_REDO] = ()
    _show(choice)


def _go(back: str, forth: str) -> None:
    stack = _stack(back)
    if stack:
        st.session_state[forth] = (*_stack(forth), current().of(ScheduleChoice))[-MOST_UNDONE:]
        st.session_state[back] = stack[:-1]
        _show(stack[-1])


def _show(choice: ScheduleChoice) -> None:
    st.session_state[_SEQ] = edits() + 1
    remember(current().having(choice))


def _stack(key: str) -> tuple[ScheduleChoice, ...]:
    return st.session_state.get(key, ())
