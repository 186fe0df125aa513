"""Rewrite, the heart: switch passes, step through every rewrite, before and after side by side."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from optimizer.errors import StudioError
from optimizer.operators.generated import unscheduled
from studio.artifacts.opened import OpenedModel
from studio.link import from_link
from studio.opening import (
    ask_ahead,
    layouts_task,
    model_task,
    run_task,
    try_again,
    verify_task,
    versus_task,
)
from studio.page.parts import PATIENCE_S, go_to, run_again_after, show_failure
from studio.rewrite.branches import branch_records, gone_to, remember_branch
from studio.schedule.link import REGION, ScheduleChoice, about_nodes
from studio.tasks import Task
from studio.viewer import passlens_viewer, take_messages
from studio.viewing import Descriptor, changed_pipeline, changed_view, workbench
from studio.workspace import Veto, Workspace, current, remember, remember_elsewhere

KEY = "rewrite-viewer"
_LEAVING = "rewrite-leaving"
_REFUSED = "rewrite-refused"
"""Why the last change was not made: a file that is no pipeline."""


def render() -> None:
    """The page: the workbench is one component; here is only what it cannot do by itself."""
    take_messages(KEY, _take)
    if st.session_state.pop(_LEAVING, False):
        go_to("schedule")
    workspace = current()
    opening = model_task(workspace)
    opening.wait(PATIENCE_S)
    if opening.error is not None:
        show_failure(opening.error, partial(try_again, workspace))
    else:
        _workbench(workspace, opening)


def _workbench(workspace: Workspace, opening: Task[OpenedModel]) -> None:
    """The viewer from the first moment: its own files load while the model is being opened."""
    running = verifying = versus = verifying_versus = None
    # Looked at before the results: what ends in between is pending still, and is drawn again.
    pending: list[Task[Any]] = [] if opening.done else [opening]
    if opening.result is not None:
        running = run_task(workspace, opening.result)
        running.wait(PATIENCE_S)
        versus = versus_task(workspace, opening.result)
        pending += [task for task in (running, versus) if task is not None and not task.done]
        if running.result is not None:
            verifying = verify_task(opening.result, running.result)
            layouts = layouts_task(opening.result, running.result)
            pending += [task for task in (verifying, layouts) if not task.done]
            if versus is not None and versus.result is not None:
                verifying_versus = verify_task(opening.result, versus.result)
                pending += [] if verifying_versus.done else [verifying_versus]
            if layouts.done:
                ask_ahead(opening.result, running.result)

    def told() -> Descriptor:
        shown = workbench(
            workspace, opening, running, verifying,
            versus=versus, verifying_versus=verifying_versus,
        )  # fmt: skip
        shown["branches"] = branch_records(workspace, opening.result)
        refused = st.session_state.get(_REFUSED)
        return {**shown, "message": {"kind": "error", "text": refused}} if refused else shown

    passlens_viewer(shown := told(), key=KEY)

    # The viewer itself is in no fragment: a fragment that runs again right after the page makes
    # Streamlit drop what the page has just put there, and the viewer would start afresh.
    run_again_after(pending, or_when=lambda: told() != shown)


def _take(name: str, value: Any) -> None:
    """Let what the user did in the viewer change this session's workspace."""
    if name == "cancel":
        _cancel(current())
    elif name == "loops":
        _leave_for(f"{REGION}{unscheduled(str(value))}")
    elif name == "region":
        _leave_for(about_nodes(map(str, value)))
    elif (change := _CHANGES.get(name)) is not None:
        if name != "view":
            st.session_state.pop(_REFUSED, None)
        try:
            changed = change(before := current(), value)
            remember_branch(before, changed)
            remember(changed)
        except StudioError as error:
            st.session_state[_REFUSED] = error.message
        if name != "view":
            try_again(current())


def _leave_for(subject: str) -> None:
    """Go to the page Schedule; what is no subject opens it on an example."""
    remember_elsewhere(current().having(from_link(ScheduleChoice, {"loops": subject})))
    st.session_state[_LEAVING] = True


def _cancel(workspace: Workspace) -> None:
    opening = model_task(workspace)
    (opening if opening.result is None else run_task(workspace, opening.result)).cancel()


def _vetoed(workspace: Workspace, event: Any) -> Workspace:
    match event:
        case {"match": str(match), "rule": str(rule), "root": str(root), "step": int(step)}:
            return workspace.with_veto(Veto(match, rule, root), step=step)
        case _:
            return workspace


def _allowed(workspace: Workspace, event: Any) -> Workspace:
    match event:
        case {"match": str(match), "step": int(step)}:
            return workspace.without_veto(match, step=step)
        case _:
            return workspace


_CHANGES = {
    "view": changed_view,
    "pipeline": changed_pipeline,
    "veto": _vetoed,
    "unveto": _allowed,
    "branch": gone_to,
}
