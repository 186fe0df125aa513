"""How a page offers work that takes a while: a button, progress, an error, the result."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import streamlit as st

from studio.pages.parts import PATIENCE_S, follow, show_error
from studio.services import tasks
from studio.tasks import Task, Work

Result = TypeVar("Result")


def launch(
    key: Hashable,
    work: Work[Result],
    *,
    explain: Callable[[], None],
    show: Callable[[Result], None],
    name: str = "Run",
) -> None:
    """The work of that key: not begun, under way, failed, or done.

    Args:
        key: equal keys are the same work, in every browser and after a reload.
        work: what the button starts.
        explain: draws what will be here, until there is a result.
        show: draws the result.
        name: of the button, and of the progress.
    """

    def start() -> None:
        tasks().drop(key)
        tasks().start(key, work)

    task: Task[Any] | None = tasks().get(key)
    if task is None:
        explain()
        st.button(name, type="primary", on_click=start, key=f"start-{name}")
    elif not task.wait(PATIENCE_S):
        explain()
        follow(task, name)
    elif task.error is not None:
        show_error(task.error)
        st.button(name, type="primary", on_click=start, key=f"start-{name}")
    elif task.result is not None:
        show(task.result)
        st.button("Run again", on_click=start, key=f"again-{name}")
