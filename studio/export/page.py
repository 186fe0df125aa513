"""Export: take the model, the trace or a picture with you."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, cast, get_args
from urllib.parse import urlencode, urlsplit

import streamlit as st

from optimizer.model.placement import INLINE_BYTES
from optimizer.numbers import bytes_text
from studio.artifacts.jobs import EXPORTED, PICTURE, PictureRequest
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.opening import title_of
from studio.page.parts import (
    PATIENCE_S,
    file_stem,
    follow,
    model_and_run,
    offer_download,
    show_error,
    show_message,
    words,
)
from studio.services import store, tasks
from studio.tasks import Task
from studio.workspace import current, to_query

Format = Literal["svg", "png", "pdf", "dot"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render() -> None:
    """The page."""
    found = model_and_run()
    if found is not None:
        _page(*found)


def _page(model: OpenedModel, run: OpenedRun) -> None:
    left, right = st.columns([0.28, 0.72], gap="medium")
    with left, st.container(key="take"):
        step = _step(run)
        _files(model, run, step)
        kind = _picture(model, run, step)
        _link()
    with right:
        _preview(model, run, step, kind)


def _step(run: OpenedRun) -> int:
    last: int = run.result.steps
    chosen = current().view.step
    start = last if chosen is None else min(last, chosen)
    if last == 0:
        st.text("No rewrites: the source is all there is.")
        return 0
    step = st.slider("Step", 0, last, start, key=f"step-{run.folder.parent.name}-{run.key}")
    st.caption(f"0 is the source, {last} the optimized model.")
    return step


def _files(model: OpenedModel, run: OpenedRun, step: int) -> None:
    st.subheader("Files", anchor=False)
    size_bytes = model.summary.weight_bytes
    if size_bytes > INLINE_BYTES:
        text = f"{bytes_text(size_bytes)} of weights are more than one file holds. "
        show_message(text + "passlens optimize writes files that refer to them.", key="giant")
        return
    offer_download(
        f"Model at step {step} (.onnx)",
        f"{file_stem()}-step-{step}.onnx",
        lambda: store().materialize(model, run, step).read_bytes(),
    )
    offer_download(
        "Whole trace (.trace)",
        f"{file_stem()}.trace",
        lambda: store().get(EXPORTED, (model, run), None).read_bytes(),
    )
    st.caption("`passlens replay`, `verify` and `bisect` read the trace without the model.")


def _picture(model: OpenedModel, run: OpenedRun, step: int) -> Format:
    """The step, folded as the viewer last showed it, drawn by Graphviz."""
    st.subheader("Picture", anchor=False)
    chosen = st.segmented_control(
        "Format", FORMATS, default="svg", key="picture-format", label_visibility="collapsed"
    )
    kind = cast("Format", chosen or "svg")
    task = _drawn(model, run, step, kind)
    if not task.wait(PATIENCE_S):
        follow(task, "Drawing")
    elif task.error is not None:
        show_error(task.error, key="picture")
    elif task.result is not None:
        name = f"{file_stem()}-step-{step}.{kind}"
        offer_download(f"Picture of step {step} (.{kind})", name, task.result.read_bytes)
    st.caption(
        "Groups are open or closed as on the Rewrite page. The drawing one sees there, with its"
        " marks, is saved by the arrow beside it."
    )
    return kind


def _drawn(model: OpenedModel, run: OpenedRun, step: int, kind: Format) -> Task[Path]:
    request = PictureRequest(step, current().view.open, kind)
    work = partial(store().get, PICTURE, (model, run), request)
    return tasks().start(PICTURE.key((model, run), request), work)


def _preview(model: OpenedModel, run: OpenedRun, step: int, kind: Format) -> None:
    """The picture as it will be saved; of DOT source, its text."""
    task = _drawn(model, run, step, "dot" if kind == "dot" else "svg")
    if not task.wait(PATIENCE_S) or task.result is None:
        return
    st.caption(f"{words(title_of(current()))} at step {step}")
    with st.container(key="preview", border=True):
        if kind == "dot":
            st.code(task.result.read_text(), language=None)
        else:
            st.image(str(task.result), width="content", alt=f"The graph at step {step}")


def _link() -> None:
    st.subheader("Link", anchor=False)
    here = urlsplit(st.context.url or "")
    query = urlencode(to_query(current()), safe=",/|")
    st.code(f"{here.scheme}://{here.netloc}/?{query}", language=None, wrap_lines=True)
    st.caption("Opens the same model, passes, step and selection on this server.")
