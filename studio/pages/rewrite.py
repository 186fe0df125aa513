"""Rewrite, the heart: switch passes, step through every rewrite, before and after side by side."""

from __future__ import annotations

import streamlit as st

from studio.opening import model_task, run_task
from studio.pages.parts import LOOK_AGAIN_S, PATIENCE_S
from studio.viewer import passlens_viewer
from studio.viewing import take_events, workbench
from studio.workspace import current, remember

KEY = "rewrite-viewer"


def render() -> None:
    """The page: the workbench is one component; here is only what it cannot do by itself."""
    take_events(st.session_state.get(KEY))
    workspace = current()
    opening = model_task(workspace)
    running = None
    if opening.wait(PATIENCE_S) and opening.result is not None:
        running = run_task(workspace, opening.result)
        running.wait(PATIENCE_S)
    busy = not opening.done or (running is not None and not running.done)

    @st.fragment(run_every=LOOK_AGAIN_S if busy else None)
    def look() -> None:
        if busy and opening.done and (running is None or running.done):
            st.rerun()
        passlens_viewer(workbench(workspace, opening, running), key=KEY)

    look()
    remember(workspace)
