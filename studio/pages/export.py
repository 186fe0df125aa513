"""Export: take the model, the trace or a picture with you."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, cast

import streamlit as st

from optimizer.errors import StudioError
from studio.jobs import PictureRequest
from studio.opening import model_task, run_task
from studio.pages.parts import PATIENCE_S, follow, show_error
from studio.services import store
from studio.store import OpenedModel, OpenedRun
from studio.tasks import Task
from studio.workspace import current, remember, to_query

Format = Literal["svg", "png", "pdf", "dot"]


def render() -> None:
    """The page."""
    workspace = current()
    opening = model_task(workspace)
    if not opening.wait(PATIENCE_S):
        follow(cast("Task[object]", opening), f"Opening {workspace.model}")
        return
    if opening.error is not None:
        show_error(opening.error)
        return
    assert opening.result is not None
    remember(workspace)
    running = run_task(workspace, opening.result)
    if not running.wait(PATIENCE_S):
        follow(cast("Task[object]", running), "Optimizing")
    elif running.error is not None:
        show_error(running.error)
    elif running.result is not None:
        _downloads(opening.result, running.result)


def _downloads(model: OpenedModel, run: OpenedRun) -> None:
    last = run.result["steps"]
    chosen = current().view.step
    step = st.slider(
        f"Step (0 is the source, {last} the optimized model)",
        0,
        max(last, 1),
        min(last, chosen if chosen is not None else last),
        disabled=last == 0,
    )
    left, right = st.columns(2)
    with left:
        st.subheader("Files", anchor=False)
        _download(f"Model at step {step} (.onnx)", partial(store().materialize, model, run, step))
        _download("Whole trace (.trace)", partial(store().trace, model, run))
        st.caption("`passlens replay`, `verify` and `bisect` read the trace without the model.")
        st.subheader("Link", anchor=False)
        parameters = "&".join(f"{name}={text}" for name, text in to_query(current()).items())
        st.code(f"?{parameters}", language=None, wrap_lines=True)
    with right:
        st.subheader("Picture", anchor=False)
        _picture(model, run, step)


def _picture(model: OpenedModel, run: OpenedRun, step: int) -> None:
    """The step, folded as the viewer last showed it, drawn by Graphviz."""
    groups = current().view.open
    kind: Format = (
        st.segmented_control(
            "Format", ["svg", "png", "pdf", "dot"], default="svg", key="picture-format"
        )
        or "svg"
    )
    request = PictureRequest(step, groups, kind)
    _download(f"Picture (.{kind})", partial(store().picture, model, run, request))
    if not st.toggle("Preview", value=True, key="picture-preview"):
        return
    try:
        shown = store().picture(model, run, PictureRequest(step, groups, "svg"))
    except StudioError as error:
        show_error(error)
        return
    with st.container(height=560, border=True):
        st.image(str(shown), width="content")


def _download(label: str, make: partial[Path]) -> None:
    """A button that makes its file when it is clicked."""
    st.download_button(
        label,
        data=lambda: _bytes(make),
        file_name=_file_name(label),
        on_click="ignore",
        width="stretch",
    )


def _bytes(make: partial[Path]) -> bytes:
    return make().read_bytes()


def _file_name(label: str) -> str:
    """Names are ours, never the model's."""
    ending = label.rpartition("(.")[2].rstrip(")")
    return {"onnx": "model-optimized.onnx", "trace": "model.trace"}.get(ending, f"model.{ending}")
