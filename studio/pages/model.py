"""Model: choose a network, see its graph, read what is in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from optimizer.errors import Cancelled
from studio.gallery import gallery
from studio.gallery.table import GalleryModel
from studio.opening import model_task, path_task, title_of, try_again, upload_task
from studio.pages.facts import facts_html
from studio.pages.parts import PATIENCE_S, follow, go_to, show_error, show_failure, words
from studio.store import OpenedModel
from studio.tasks import Task
from studio.viewer import passlens_viewer
from studio.viewing import model_descriptor
from studio.workspace import current, remember

_ATTEMPT = "attempt"
_ROUND = "chooser-round"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A file the visitor wants to open.

    Attributes:
        source: where it was named, "upload" or "path".
        mark: tells this attempt from the one before.
    """

    source: str
    mark: Hashable
    task: Task[OpenedModel]


def render() -> None:
    """The page."""
    with st.sidebar:
        _choose()
    workspace = current()
    task = model_task(workspace)
    if not task.wait(PATIENCE_S):
        follow(task, f"Opening {words(title_of(workspace))}")
    elif task.error is not None:
        show_failure(task.error, partial(try_again, workspace))
    elif task.result is not None:
        picture, facts = st.columns([0.74, 0.26])
        with picture:
            passlens_viewer(model_descriptor(workspace, task.result), key="model-viewer")
        with facts, st.container(key="facts"):
            _facts(task.result)


def _facts(model: OpenedModel) -> None:
    status = model.summary["statuses"]["optimizable"]
    if st.button("See the rewrites", type="primary", width="stretch", disabled=not status["ok"]):
        go_to("rewrite")
    st.html(facts_html(model.summary))


def _choose() -> None:
    """A file, a path, sample networks."""
    with st.container(key="chooser"):
        st.subheader("Open a model", anchor=False)
        _upload()
        if os.environ.get("PASSLENS_LOCAL_FILES") != "0":
            _path()
    st.subheader("Sample networks", anchor=False)
    with st.container(key="gallery"):
        for entry in gallery.entries():
            _card(entry)


def _upload() -> None:
    files = st.file_uploader(
        "ONNX file, with its data files if it has any",
        accept_multiple_files=True,
        key=f"upload-{_round()}",
        label_visibility="collapsed",
    )
    if files:
        mark = tuple(file.file_id for file in files)
        _attempt("upload", mark, lambda: upload_task({f.name: f.getvalue() for f in files}))


def _path() -> None:
    with (
        st.form("path-form", border=False),
        st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"),
    ):
        path = st.text_input(
            "Path on this machine",
            placeholder="or a path: /models/net.onnx",
            key=f"path-{_round()}",
            label_visibility="collapsed",
        )
        asked = st.form_submit_button("Open")
    mark: Hashable = path.strip()
    if asked and path.strip():
        st.session_state.pop(_ATTEMPT, None)
    if path.strip() and (asked or _is_current("path", mark)):
        _attempt("path", mark, lambda: path_task(path.strip()))


def _is_current(source: str, mark: Hashable) -> bool:
    known: Attempt | None = st.session_state.get(_ATTEMPT)
    return known is not None and (known.source, known.mark) == (source, mark)


def _attempt(source: str, mark: Hashable, start: Callable[[], Task[OpenedModel]]) -> None:
    """Open something once; a failure is told here and leaves the earlier model open."""
    if not _is_current(source, mark):
        st.session_state[_ATTEMPT] = Attempt(source, mark, start())
    task: Task[OpenedModel] = st.session_state[_ATTEMPT].task
    if not task.wait(PATIENCE_S):
        follow(task, "Opening")
    elif task.result is not None:
        _switch_to(task.result.key)
    elif isinstance(task.error, Cancelled):
        _new_round()
        st.rerun()
    elif task.error is not None:
        show_error(task.error, key=source)


def _card(entry: GalleryModel) -> None:
    chosen = current().model == entry.id
    if st.button(
        f"**{entry.title}** {entry.nodes:,} nodes  \n{entry.story}",
        key=f"gallery-{entry.id}",
        type="primary" if chosen else "secondary",
        width="stretch",
        help=None if chosen else entry.story,
    ):
        _switch_to(entry.id)


def _switch_to(model: str) -> None:
    _new_round()
    remember(current().with_model(model))
    st.rerun()


def _round() -> int:
    """Raised to empty upload and path, so that the same file can be chosen again."""
    return st.session_state.setdefault(_ROUND, 0)


def _new_round() -> None:
    st.session_state[_ROUND] = _round() + 1
    st.session_state.pop(_ATTEMPT, None)
