"""Pieces that several pages show: work under way, errors, the viewer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, NoReturn, TypeVar, cast

import streamlit as st
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import get_script_run_ctx

from optimizer.errors import StudioError
from optimizer.numbers import counted
from optimizer.pipeline import Pipeline
from studio.artifacts.opened import Subject
from studio.gallery import gallery
from studio.opening import model_task, pipeline_task, run_task, title_of, try_again
from studio.page.findings import by_kind
from studio.tasks import Task
from studio.workspace import current, remember, went_back

Result = TypeVar("Result")
PATIENCE_S = 0.4
"""How long a page waits for quick work before it shows progress instead."""

LOOK_AGAIN_S = 0.4
MAX_KINDS = 6
MOST_FILE_NAME = 60
_PLACES = "places"
_HERE, _LEAVING = "here", "leaving"
_NAMES = count()


def set_places(places: Mapping[str, Page]) -> None:
    """Tell the pages of this session about each other."""
    st.session_state[_PLACES] = dict(places)


def arrive(page: Page) -> None:
    """Be on a page, or go on to where the run before was leaving for.

    What the browser asks for while Streamlit switches pages takes the place of that, and is about
    the page that was to be left; one who goes back to it then does not want the switch any more.
    """
    here, leaving = page.url_path, st.session_state.pop(_LEAVING, None)
    st.session_state[_HERE] = here
    if leaving is not None and leaving[0] == here and not went_back():
        go_to(leaving[1])


def go_to(place: str) -> NoReturn:
    """Switch to another page."""
    page = cast("dict[str, Page]", st.session_state[_PLACES])[place]
    here = st.session_state.get(_HERE)
    if here not in (None, page.url_path):
        st.session_state[_LEAVING] = (here, place)
    st.switch_page(page)


def look_at(node_id: str, step: int | None) -> NoReturn:
    """Select a node in the viewer and go there; the folding is the viewer's choice again.

    Args:
        node_id: of the node, as in `optimizer.model.graph`.
        step: the step of the trace whose graph has it; None or 0 for the source as it was opened.
    """
    workspace = current()
    at = step or workspace.view.step
    view = replace(workspace.view, step=at, select=(node_id,), open=None)
    remember(replace(workspace, view=view, seq=workspace.seq + 1))
    go_to("rewrite" if step else "model")


def show_error(error: StudioError, *, key: str = "error") -> None:
    """An error as a quiet box: plain text, for it may quote the model."""
    with st.container(key=f"quiet-{key}"):
        st.text(error.message)
        kinds = by_kind(error.findings)
        others = [k for k in kinds if len(k.places) > 1 or k.message not in error.message]
        for kind in others[:MAX_KINDS]:
            st.text(f"• {kind}")
        if len(others) > MAX_KINDS:
            st.text(f"… and {counted(len(others) - MAX_KINDS, 'more kind')} of findings")


def show_failure(error: StudioError, retry: Callable[[], None]) -> None:
    """A page that has nothing to show: why, and the ways on."""
    show_error(error)
    with st.container(horizontal=True):
        st.button("Try again", on_click=retry)
        if current().model != gallery.SAMPLE and st.button("Open ResNet-50"):
            remember(current().with_model(gallery.SAMPLE))
            st.rerun()


def follow(task: Task[Any], name: str) -> None:
    """Progress of a task until it ends, then the page runs again."""

    def look() -> None:
        if task.done:
            st.rerun()
        show_progress(task, name)

    draw_every(LOOK_AGAIN_S, look)


def run_again_after(pending: Sequence[Task[Any]], *, or_when: Callable[[], bool] = bool) -> None:
    """Nothing to see: the page runs again when one of these tasks has ended.

    Args:
        pending: those that had not, when the page drew what they make.
        or_when: asked as often.
    """

    def look() -> None:
        if any(task.done for task in pending) or or_when():
            st.rerun()

    draw_every(LOOK_AGAIN_S if pending else None, look)


def draw_every(seconds: float | None, draw: Callable[[], None]) -> None:
    """Draw a part of the page, and this part alone again and again.

    Each run of the page gives its parts new names. By an old name the browser could ask for a part
    while the page's own run is over and what it drew is still to be sent: Streamlit then runs the
    part, and drops all that (`AppSession.request_rerun`). A name that is gone it passes over.

    Args:
        seconds: how often; None for once.
        draw: the part.
    """

    def part() -> None:
        draw()

    part.__qualname__ += f"-{next(_NAMES)}"
    st.fragment(part, run_every=seconds)()


def end_parts() -> None:
    """End the parts of the page as it was, before a run of the page draws anything.

    Streamlit would keep them until the run is over, and note if the browser asks for one
    meanwhile. On another page that wish is one for the page that was left: the browser then takes
    away what the new one has drawn, and breaks down at the next part that finds its place gone.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        context.fragment_storage.clear()


def show_progress(task: Task[Any], name: str) -> None:
    """How far a task is, what it does now, and a way to stop it."""
    left = task.seconds_left
    rest = f" · about {left:.0f} s left" if left is not None else ""
    text = "cancelling" if task.cancelling else f"{words(task.text)}{rest}"
    st.progress(min(1.0, max(0.0, task.fraction)), text=f"{name}: {text}")
    st.button("Cancel", key=f"cancel-{name}", on_click=task.cancel, disabled=task.cancelling)


def settled(task: Task[Result], name: str, retry: Callable[[], None]) -> Result | None:
    """What became of a task; None while there is progress or an error to show."""
    if not task.wait(PATIENCE_S):
        follow(task, name)
        return None
    if task.error is not None:
        show_failure(task.error, retry)
    return task.result


def model_and_run(pipeline: Pipeline | None = None) -> Subject | None:
    """The workspace's model and a run of it; None while there is progress or an error to show.

    Args:
        pipeline: that runs; the workspace's own unless given.
    """
    workspace = current()
    retry = partial(try_again, workspace, pipeline)
    opening = f"Opening {words(title_of(workspace))}"
    model = settled(model_task(workspace), opening, retry)
    if model is None:
        return None
    task = run_task(workspace, model) if pipeline is None else pipeline_task(pipeline, model)
    run = settled(task, "Optimizing", retry)
    return None if run is None else (model, run)


def show_remarks(remarks: Iterable[str], *, key: str) -> None:
    """What a reader of the numbers should know, a quiet box each."""
    for number, remark in enumerate(remarks):
        show_message(remark, key=f"{key}-remark-{number}")


def show_message(text: str, *, key: str) -> None:
    """A quiet box of plain text."""
    with st.container(key=f"quiet-{key}"):
        st.text(text)


def offer_download(label: str, file_name: str, make: Callable[[], bytes]) -> None:
    """A button that makes its file when it is clicked."""
    st.download_button(
        label,
        data=make,
        file_name=file_name,
        mime="application/octet-stream",
        on_click="ignore",
        width="stretch",
        key=f"download-{file_name}",
    )


def file_stem() -> str:
    """The open model's name as the start of a file's: letters, digits, dots and dashes alone."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", title_of(current()).removesuffix(".onnx")).strip("-.")
    return name[:MOST_FILE_NAME].lower() or "model"


def words(text: str) -> str:
    """A model's text made safe for places that read Markdown."""
    return "".join(f"\\{c}" if c in _MARKDOWN else c for c in text if c.isprintable())


_MARKDOWN = set("\\`*_{}[]()#+-.!|<>~:$&")


def choose_section(
    titles: Mapping[str, str],
    chosen: str,
    *,
    key: str,
    take: Callable[[str], None],
    label: str = "Section",
    is_shown: bool = False,
    told: str | None = None,
) -> None:
    """A choice between few, for example the sections of a page.

    Args:
        titles: of what there is, in order.
        chosen: what is shown, also after another page was open.
        key: of the widget.
        take: called with the one that a visitor picks.
        label: of the widget, for those who cannot see where it stands.
        is_shown: whether all see the label.
        told: in its tip.
    """
    st.session_state[key] = chosen
    st.segmented_control(
        label,
        list(titles),
        format_func=titles.__getitem__,
        key=key,
        on_change=lambda: take(st.session_state[key]),
        label_visibility="visible" if is_shown else "collapsed",
        required=True,
        help=told,
    )
