"""What to open: a file, a path of the server, a sample network. The last of these wins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import streamlit as st

from optimizer.errors import Cancelled
from studio.artifacts.model_files import looks_like_a_model
from studio.artifacts.opened import OpenedModel
from studio.environment import LOCAL_FILES
from studio.gallery import gallery
from studio.gallery.gallery import GalleryModel
from studio.opening import path_task, upload_task
from studio.page.parts import PATIENCE_S, follow, show_error
from studio.tasks import Task
from studio.workspace import current, remember

_ATTEMPT = "attempt"
_UPLOADS, _PATHS = "uploads", "paths"
Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last thing the visitor wanted to open.

    Attributes:
        source: where it was named.
        name: of the file.
        task: what became of it.
        over: the model that was open then; whoever opens another one has moved on.
        files: what was uploaded, for the data files that may come after it.
    """

    source: Literal["upload", "path"]
    name: str
    task: Task[OpenedModel]
    over: str
    files: Files = field(default_factory=dict[str, bytes])


def choose() -> None:
    """The ways to a model, and what became of the last one."""
    with st.container(key="chooser"):
        st.subheader("Open a model", anchor=False)
        _upload()
        if os.environ.get(LOCAL_FILES) != "0":
            _path()
        _outcome()
    st.subheader("Sample networks", anchor=False)
    with st.container(key="gallery"):
        for entry in gallery.entries():
            _card(entry)


def _upload() -> None:
    """Files are taken out of the widget at once: what it keeps would come along the next time."""
    files = st.file_uploader(
        "ONNX file, with its data files if it has any",
        accept_multiple_files=True,
        key=f"upload-{_count(_UPLOADS)}",
        label_visibility="collapsed",
    )
    if files:
        known = being_opened()
        chosen = together({f.name: f.getvalue() for f in files}, known.files if known else {})
        name = next(filter(looks_like_a_model, chosen), next(iter(chosen)))
        _begin(Attempt("upload", name, upload_task(chosen), current().model, chosen))
        _raise(_UPLOADS)
        st.rerun()


def together(new: Files, earlier: Files) -> dict[str, bytes]:
    """What is opened when files come in two goes: a model and its data belong together.

    A model replaces one that came before; data files join the model they were missing from.
    """
    models = [name for name in (*earlier, *new) if looks_like_a_model(name)]
    joined = {**earlier, **new}
    return joined if len(set(models)) == 1 and len(joined) > len(new) else dict(new)


def _path() -> None:
    with (
        st.form("path-form", border=False),
        st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"),
    ):
        path = st.text_input(
            "Path on this machine",
            placeholder="or a path: /models/net.onnx",
            key=f"path-{_count(_PATHS)}",
            label_visibility="collapsed",
        ).strip()
        asked = st.form_submit_button("Open")
    if asked and path:
        _begin(Attempt("path", Path(path).name, path_task(path), current().model))


def _outcome() -> None:
    """What became of the last attempt; a failure is told here and leaves the open model open."""
    attempt = being_opened()
    if attempt is None:
        return
    if not attempt.task.wait(PATIENCE_S):
        follow(attempt.task, "Opening")
    elif attempt.task.result is not None:
        _switch_to(attempt.task.result.key)
    elif isinstance(attempt.task.error, Cancelled):
        st.session_state.pop(_ATTEMPT, None)
    elif attempt.task.error is not None:
        show_error(attempt.task.error, key=attempt.source)


def _begin(attempt: Attempt) -> None:
    earlier = being_opened()
    if earlier is not None and earlier.task is not attempt.task:
        earlier.task.cancel()
    st.session_state[_ATTEMPT] = attempt


def being_opened() -> Attempt | None:
    """The last attempt, as long as nothing else was opened since."""
    attempt: Attempt | None = st.session_state.get(_ATTEMPT)
    if attempt is not None and attempt.over != current().model:
        attempt.task.cancel()
        st.session_state.pop(_ATTEMPT)
        return None
    return attempt


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
    _raise(_PATHS)
    st.session_state.pop(_ATTEMPT, None)
    remember(current().with_model(model))
    st.rerun()


def _count(name: str) -> int:
    """Raised to empty a widget, so that the same can be chosen again."""
    return st.session_state.setdefault(f"chooser-{name}", 0)


def _raise(name: str) -> None:
    st.session_state[f"chooser-{name}"] = _count(name) + 1
