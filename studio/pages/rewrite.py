"""Rewrite, the heart: switch passes, step through every rewrite, before and after side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from studio.opening import model_task, run_task
from studio.pages.parts import LOOK_AGAIN_S, PATIENCE_S
from studio.viewer import passlens_viewer
from studio.viewing import changed_pipeline, changed_view, workbench
from studio.workspace import Workspace, current, remember

KEY = "rewrite-viewer"


def render() -> None:
    """The page: the workbench is one component; here is only what it cannot do by itself."""
    workspace = current()
    opening = model_task(workspace)
    running = None
    if opening.wait(PATIENCE_S) and opening.result is not None:
        running = run_task(workspace, opening.result)
        running.wait(PATIENCE_S)
    busy = not opening.done or (running is not None and not running.done)

    def cancel() -> None:
        (running or opening).cancel()

    @st.fragment(run_every=LOOK_AGAIN_S if busy else None)
    def look() -> None:
        finished = busy and opening.done and (running is None or running.done)
        if finished or current() != workspace:
            st.rerun()
        passlens_viewer(
            workbench(workspace, opening, running),
            key=KEY,
            on_view=lambda: _take("view", changed_view),
            on_pipeline=lambda: _take("pipeline", changed_pipeline),
            on_veto=lambda: _take("veto", _vetoed),
            on_unveto=lambda: _take("unveto", _allowed),
            on_cancel=cancel,
        )

    look()
    remember(workspace)


def _take(name: str, change: Callable[[Workspace, Any], Workspace]) -> None:
    """Let an event from the browser change this session's workspace."""
    event = st.session_state[KEY].get(name)
    if event is not None:
        remember(change(current(), event))


def _vetoed(workspace: Workspace, event: Any) -> Workspace:
    return workspace.with_veto(
        str(event["match"] if isinstance(event, dict) else event), vetoed=True
    )


def _allowed(workspace: Workspace, event: Any) -> Workspace:
    return workspace.with_veto(
        str(event["match"] if isinstance(event, dict) else event), vetoed=False
    )
