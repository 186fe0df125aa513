"""Work that a section needs, and work behind a page that is already there."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from studio.page.parts import PATIENCE_S, follow, show_error, words
from studio.services import tasks
from studio.tasks import Task, Work

Result = TypeVar("Result")
LOOK_AGAIN_S = 1.0


def settled(key: Hashable, work: Work[Result], *, name: str) -> Result | None:
    """The result of work that starts by itself; None while there is progress, or an error, to show.

    Args:
        key: equal keys are the same work.
        work: what is done.
        name: of the progress.
    """
    task = tasks().start(key, work)
    if not task.wait(PATIENCE_S):
        follow(task, name)
        return None
    if task.error is not None:
        show_error(task.error, key="memory")
        st.button("Try again", on_click=partial(tasks().drop, key), key="memory-again")
    return task.result


def beside_the_page(task: Task[Any], name: str) -> None:
    """A line about work under way; when it ends, the page is drawn again."""
    if task.done:
        return

    @st.fragment(run_every=LOOK_AGAIN_S)
    def look() -> None:
        if task.done:
            st.rerun()
        st.caption(f"{words(name)}: {words(task.text)}, {100 * task.fraction:.0f} %")

    look()
