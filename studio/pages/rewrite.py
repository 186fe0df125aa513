"""Rewrite, the heart: switch passes, step through every rewrite, before and after side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from studio.opening import model_task, run_task, title_of, try_again, verify_task
from studio.pages.parts import LOOK_AGAIN_S, PATIENCE_S, follow, show_failure, words
from studio.store import OpenedModel, OpenedRun
from studio.tasks import Task
from studio.viewer import passlens_viewer
from studio.viewing import changed_pipeline, changed_view, workbench
from studio.workspace import Veto, Workspace, current, remember

KEY = "rewrite-viewer"


def render() -> None:
    """The page: the workbench is one component; here is only what it cannot do by itself."""
    workspace = current()
    opening = model_task(workspace)
    if not opening.wait(PATIENCE_S):
        follow(opening, f"Opening {words(title_of(workspace))}")
    elif opening.error is not None:
        show_failure(opening.error, partial(try_again, workspace))
    elif opening.result is not None:
        _workbench(workspace, opening, run_task(workspace, opening.result))


def _workbench(workspace: Workspace, opening: Task[OpenedModel], running: Task[OpenedRun]) -> None:
    running.wait(PATIENCE_S)
    verifying = None
    if opening.result is not None and running.result is not None:
        verifying = verify_task(opening.result, running.result)
    pending = [task for task in (running, verifying) if task is not None and not task.done]

    @st.fragment(run_every=LOOK_AGAIN_S if pending else None)
    def look() -> None:
        if any(task.done for task in pending) or current() != workspace:
            st.rerun()
        passlens_viewer(
            workbench(workspace, opening, running, verifying),
            key=KEY,
            on_view=lambda: _take("view", changed_view),
            on_pipeline=lambda: _take("pipeline", changed_pipeline),
            on_veto=lambda: _take("veto", _vetoed),
            on_unveto=lambda: _take("unveto", _allowed),
            on_cancel=running.cancel,
        )

    look()


def _take(name: str, change: Callable[[Workspace, Any], Workspace]) -> None:
    """Let an event from the browser change this session's workspace."""
    event = st.session_state[KEY].get(name)
    if event is not None:
        remember(change(current(), event))
        if name != "view":
            try_again(current())


def _vetoed(workspace: Workspace, event: Any) -> Workspace:
    match event:
        case {"match": str(match), "rule": str(rule), "root": str(root)}:
            return workspace.with_veto(Veto(match, rule, root))
        case _:
            return workspace


def _allowed(workspace: Workspace, event: Any) -> Workspace:
    return workspace.without_veto(str(event))
