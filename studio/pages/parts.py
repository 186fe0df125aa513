"""Pieces that several pages show: work under way, errors, the viewer."""

from __future__ import annotations

import streamlit as st

from optimizer.errors import StudioError
from studio.tasks import Task

PATIENCE_S = 0.4
"""How long a page waits for quick work before it shows progress instead."""

LOOK_AGAIN_S = 0.4
MAX_FINDINGS = 20


def show_error(error: StudioError) -> None:
    """An error as a quiet box: plain text, for it may quote the model."""
    with st.container(border=True):
        st.text(error.message)
        others = [f for f in error.findings if f.message not in error.message]
        for finding in others[:MAX_FINDINGS]:
            st.text(f"• {finding}")
        if len(others) > MAX_FINDINGS:
            st.text(f"… and {len(others) - MAX_FINDINGS} more findings")


def follow(task: Task[object], words: str) -> None:
    """Progress of a task until it ends, then the page runs again."""

    @st.fragment(run_every=LOOK_AGAIN_S)
    def look() -> None:
        if task.done:
            st.rerun()
        st.progress(min(1.0, max(0.0, task.fraction)), text=f"{words}: {task.text}")
        if st.button("Cancel", key=f"cancel-{words}"):
            task.cancel()

    look()


def show_message(text: str) -> None:
    """A quiet box of plain text."""
    with st.container(border=True):
        st.text(text)


def words(text: str) -> str:
    """A model's text made safe for places that read Markdown."""
    return "".join(f"\\{c}" if c in _MARKDOWN else c for c in text if c.isprintable())


_MARKDOWN = set("\\`*_{}[]()#+-.!|<>~:$&")
