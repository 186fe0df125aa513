"""The right end of the top bar: the open model, a menu of others, and Share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import streamlit as st
from streamlit.components.v2 import component

from optimizer.errors import Cancelled
from studio.artifacts.opened import OpenedModel
from studio.gallery import gallery
from studio.model.chooser import Attempt
from studio.opening import try_again
from studio.page.parts import go_to
from studio.services import store, tasks
from studio.tasks import Task
from studio.viewer import asset_version
from studio.viewing import changed_view
from studio.workspace import current, remember

_KEY = "bar"
_PLACES = ("model", "export")
_MOST, _OPENED = 8, "opened-here"

Recent = tuple[str, str, int]
"""The store's key of a model, or its path on the server; its file's name; how many operators."""

# Several lines on purpose: Streamlit takes a single line with a slash for the path of a file.
_STUB = """
export default async function (component) {
  const url = new URL('viewer/VERSION/topbar.js', document.baseURI);
  const bar = await import(url.href);
  return bar.default(component);
}
"""
_HTML = """
<div data-passlens-bar></div>
"""


def show_bar(title: str, *, opening: str = "") -> None:
    """The open model's name with the menu, and Share; whoever asks for another page gets there.

    Args:
        title: of the open model; it may quote the model, and is only ever shown as text.
        opening: what became of another one that the visitor wanted, in words; the same holds.
    """
    with st.container(key="open-model", width="content"):
        result = _component()(
            key=_KEY,
            data={"title": title, "sections": _sections(), "opening": opening},
            on_model_change=_open,
            on_go_change=_nothing,
            on_view_change=_left,
        )
    if (place := result.get("go")) in _PLACES:
        go_to(place)


def about_opening(attempt: Attempt | None) -> str:
    """What became of what the visitor wanted to open and went away from, in a few words."""
    if attempt is None or isinstance(attempt.task.error, Cancelled):
        return ""
    if not attempt.task.done:
        return f"Opening {attempt.name}"
    return f"{'Not opened' if attempt.task.error else 'Ready'}: {attempt.name}"


def _sections() -> list[dict[str, Any]]:
    here = current().model
    samples = tuple((entry.id, entry.title, entry.nodes) for entry in gallery.entries())
    offered = {"Opened in this session": opened_here(), "Sample networks": samples}
    return [
        {
            "title": title,
            "models": [
                {"id": model, "title": name, "nodes": nodes, "open": model == here}
                for model, name, nodes in models
            ],
        }
        for title, models in offered.items()
        if models
    ]


def _open() -> None:
    """Another model, on the page that is open; one that is open already is left as it is."""
    model = st.session_state[_KEY].get("model")
    if isinstance(model, str) and model != current().model:
        remember(current().with_model(model))
        try_again(current())


def _left() -> None:
    """Where the visitor was on the page they left: its own component cannot say that any more."""
    view = st.session_state[_KEY].get("view")
    if isinstance(view, Mapping):
        workspace = changed_view(current(), cast("Mapping[str, Any]", view))
        remember(replace(workspace, seq=workspace.seq + 1))


def _component() -> Callable[..., Mapping[str, Any]]:
    js = _STUB.replace("VERSION", asset_version())
    return cast(
        "Callable[..., Mapping[str, Any]]",
        component("passlens_bar", html=_HTML, js=js, isolate_styles=False),
    )


def _nothing() -> None:
    """Streamlit keeps a state only where a callback stands for it."""


def opened_here() -> tuple[Recent, ...]:
    """What this session has opened, newest first; the open model is noted on the way."""
    known: tuple[Recent, ...] = st.session_state.get(_OPENED, ())
    model = current().model
    if gallery.find(model) is None and all(one != model for one, *_ in known):
        opened = _opened(model)
        if opened is not None:
            known = ((model, opened.summary.name, opened.summary.nodes), *known)[:_MOST]
            st.session_state[_OPENED] = known
    return known


def _opened(model: str) -> OpenedModel | None:
    task: Task[OpenedModel] | None = tasks().get(("model", model))
    return task.result if task is not None and task.result is not None else store().model(model)
