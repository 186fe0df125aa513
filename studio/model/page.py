"""Model: choose a network, see its graph, read what is in it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from studio.artifacts.opened import OpenedModel
from studio.model.chooser import choose
from studio.model.facts import facts_html
from studio.opening import model_task, source_layouts_task, title_of, try_again
from studio.page.parts import (
    PATIENCE_S,
    follow,
    go_to,
    run_again_after,
    show_failure,
    words,
)
from studio.viewer import passlens_viewer
from studio.viewing import model_descriptor
from studio.workspace import current


def render() -> None:
    """The page."""
    with st.sidebar:
        choose()
    workspace = current()
    task = model_task(workspace)
    if not task.wait(PATIENCE_S):
        follow(task, f"Opening {words(title_of(workspace))}")
    elif task.error is not None:
        show_failure(task.error, partial(try_again, workspace))
    elif task.result is not None:
        layouts = source_layouts_task(task.result)
        pending = [] if layouts.done else [layouts]
        picture, facts = st.columns([0.74, 0.26])
        with picture:
            passlens_viewer(model_descriptor(workspace, task.result), key="model-viewer")
        with facts, st.container(key="facts"):
            _facts(task.result)
        run_again_after(pending)


def _facts(model: OpenedModel) -> None:
    status = model.summary.statuses.optimizable
    if st.button("See the rewrites", type="primary", width="stretch", disabled=not status.ok):
        go_to("rewrite")
    st.html(facts_html(model.summary))
