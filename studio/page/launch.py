"""How a page offers work that takes a while: a button, progress, an error, the result.

What a visitor can do stands in a row of a fixed height above what there is to see, so that
nothing moves when the work begins, goes on or ends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from optimizer.errors import Cancelled
from studio.page.parts import PATIENCE_S, draw_every, show_error, show_message, show_progress
from studio.services import tasks
from studio.tasks import Task, Work

Result = TypeVar("Result")
Draw = Callable[[], None]
LOOK_AGAIN_S = 1.0
DRAW_AGAIN_S = 4.0
"""Seldom: on two cores, a browser that redrew every second stretched the 95th percentile of the
runs it showed from 150 to 330 ms."""


def launch(
    key: Hashable,
    work: Work[Result],
    *,
    explain: Draw,
    show: Callable[[Result], None],
    name: str = "Run",
    again: str = "Run again",
    show_partial: Callable[[Any], None] | None = None,
    show_left: Callable[[Any], None] | None = None,
    beside: Callable[[Result], None] | None = None,
    earlier: Draw | None = None,
    blocked: Draw | None = None,
) -> None:
    """The work of that key: not begun, under way, failed, or done.

    Args:
        key: equal keys are the same work, in every browser and after a reload.
        work: what the button starts.
        explain: draws what will be here, until there is something to show.
        show: draws the result.
        name: of the button, and of the progress.
        again: of the button once there is a result.
        show_partial: draws what is known so far, of work that publishes it through `partial`.
        show_left: the same when it was cancelled or failed; as `show_partial` unless given.
        beside: draws what more can be done with a result.
        earlier: draws a recording of such work, below `explain`, until it is begun.
        blocked: draws, beside the button, why it cannot be begun now; what there is stays.
    """

    def start() -> None:
        tasks().drop(key)
        tasks().start(key, work)

    def so_far(task: Task[Any]) -> None:
        _so_far(task, (show_left or show_partial) if task.done else show_partial, explain)

    task: Task[Any] | None = tasks().get(key)
    if task is None:
        _not_begun(name, start, blocked, explain=explain, earlier=earlier)
    elif not task.wait(PATIENCE_S):
        _say_blocked(blocked)
        _follow(task, name, so_far)
    elif task.error is not None:
        with _row(name):
            _again((name, again), start, blocked)
            _say_why(task, name)
        with _body(name):
            so_far(task)
    elif task.result is not None:
        with _row(name):
            _again((name, again), start, blocked)
            if beside is not None:
                beside(task.result)
        with _body(name):
            show(task.result)


def _not_begun(
    name: str, start: Draw, blocked: Draw | None, *, explain: Draw, earlier: Draw | None
) -> None:
    """The button, and what will be here."""
    with _row(name):
        _begin(name, start, blocked)
    with _body(name):
        explain()
        if earlier is not None:
            earlier()


def _so_far(task: Task[Any], draw: Callable[[Any], None] | None, explain: Draw) -> None:
    """What is known, or what will be here."""
    if draw is not None and task.partial is not None:
        draw(task.partial)
    else:
        explain()


def _begin(name: str, start: Callable[[], None], blocked: Draw | None) -> None:
    disabled = blocked is not None
    st.button(name, type="primary", on_click=start, key=f"start-{name}", disabled=disabled)
    _say_blocked(blocked)


def _again(names: tuple[str, str], start: Callable[[], None], blocked: Draw | None) -> None:
    name, again = names
    st.button(
        again,
        on_click=start,
        key=f"again-{name}",
        icon=":material/replay:",
        disabled=blocked is not None,
    )
    _say_blocked(blocked)


def _say_blocked(blocked: Draw | None) -> None:
    if blocked is not None:
        blocked()


def _say_why(task: Task[Any], name: str) -> None:
    """Why there is no result."""
    if isinstance(task.error, Cancelled) and task.partial is not None:
        show_message("Cancelled: what follows is incomplete.", key=f"cancelled-{name}")
    elif task.error is not None:
        show_error(task.error, key=f"error-{name}")


def _row(name: str) -> DeltaGenerator:
    """Where the controls stand; as high with a button as with progress."""
    return st.container(key=f"launch-{_slug(name)}", horizontal=True, vertical_alignment="center")


def _body(name: str) -> DeltaGenerator:
    return st.container(key=f"body-{_slug(name)}")


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def _follow(task: Task[Any], name: str, so_far: Callable[[Task[Any]], None]) -> None:
    """Progress of a task and what is known so far, until it ends; then the page runs again."""

    def look() -> None:
        if task.done:
            st.rerun()
        with _row(name):
            show_progress(task, name)

    def draw() -> None:
        with _body(name):
            so_far(task)

    draw_every(LOOK_AGAIN_S, look)
    draw_every(DRAW_AGAIN_S, draw)
