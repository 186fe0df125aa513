"""The models that a browser session has opened, beyond the samples that everybody has."""

from __future__ import annotations

import streamlit as st

from studio.artifacts.opened import OpenedModel
from studio.gallery import gallery
from studio.services import store, tasks
from studio.tasks import Task
from studio.workspace import current

MOST = 8
_KEY = "opened-here"


Recent = tuple[str, str, int]
"""The store's key of a model, or its path on the server; its file's name; how many operators."""


def opened_here() -> tuple[Recent, ...]:
    """What this session has opened, newest first; the open model is noted on the way."""
    known: tuple[Recent, ...] = st.session_state.get(_KEY, ())
    model = current().model
    if gallery.find(model) is None and all(one != model for one, *_ in known):
        opened = _opened(model)
        if opened is not None:
            known = ((model, opened.summary.name, opened.summary.nodes), *known)[:MOST]
            st.session_state[_KEY] = known
    return known


def _opened(model: str) -> OpenedModel | None:
    task: Task[OpenedModel] | None = tasks().get(("model", model))
    return task.result if task is not None and task.result is not None else store().model(model)
