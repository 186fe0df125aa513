"""Work behind a page that is already there."""

from __future__ import annotations

from typing import Any

import streamlit as st

from studio.pages.parts import words
from studio.tasks import Task

LOOK_AGAIN_S = 1.0


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
