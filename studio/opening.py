"""From a workspace to its model and its run: the tasks behind every page."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Unpack

import streamlit as st

from optimizer.errors import StudioError, quoted
from optimizer.isolation import Following, Progress
from optimizer.pipeline import Pipeline
from studio.artifacts.opened import OpenedModel, OpenedRun, Verified
from studio.artifacts.plans import hold_plan
from studio.artifacts.preview import AHEAD_SECONDS, PREVIEW, StepPreview, ask_some, ask_soon
from studio.artifacts.store import run_key
from studio.environment import LOCAL_FILES
from studio.gallery import gallery
from studio.layouts import LAYOUTS, look_at_some
from studio.services import records, store, tasks, turns
from studio.tasks import Task, Work
from studio.versus import Versus
from studio.workspace import Workspace

_LAYOUTS_PATIENCE_S = 600
_KERNELS = "generate-kernels"
_OPEN, _PLANS = "open-model", "open-plans"


def model_task(workspace: Workspace) -> Task[OpenedModel]:
    """Opening the workspace's model; the same task for everybody who wants it."""
    return tasks().start(("model", workspace.model), partial(_open, workspace.model))


def hold_open(workspace: Workspace) -> None:
    """Keep model and plans of this browser session here as long as the session has them open."""
    opening = tasks().get(("model", workspace.model))
    if opening is not None and opening.result is not None:
        st.session_state[_OPEN] = opening.result
    st.session_state[_PLANS] = [hold_plan(key) for key in workspace.plans]


def title_of(workspace: Workspace) -> str:
    """What the workspace's model is called; the key's own text as long as nobody knows."""
    entry = gallery.find(workspace.model)
    if entry is not None:
        return entry.title
    known = store().model(workspace.model)
    return known.summary.name if known is not None else Path(workspace.model).name


def try_again(workspace: Workspace, pipeline: Pipeline | None = None) -> None:
    """Forget that opening or optimizing failed, so that the next look starts it anew.

    Args:
        workspace: whose.
        pipeline: the workspace's own unless given.
    """
    opening = tasks().get(("model", workspace.model))
    if opening is None or opening.result is None:
        tasks().drop_failed(("model", workspace.model))
        return
    with suppress(StudioError):  # a plan that is gone is looked for at every look
        wanted = pipeline or as_written_here(workspace.pipeline())
        tasks().drop_failed(("run", opening.result.key, run_key(wanted)))


def run_task(workspace: Workspace, model: OpenedModel) -> Task[OpenedRun]:
    """Running the workspace's pipeline over an opened model."""
    return _planned_task(workspace, model)


def versus_task(workspace: Workspace, model: OpenedModel) -> Task[OpenedRun] | None:
    """Running the pipeline it is compared with; None where there is none."""
    return None if workspace.versus is None else _planned_task(workspace.versus, model)


def _planned_task(chosen: Workspace | Versus, model: OpenedModel) -> Task[OpenedRun]:
    """Running what was chosen; that its plan is gone is the task's error, and nothing runs."""
    try:
        return pipeline_task(as_written_here(chosen.pipeline()), model)
    except StudioError as error:
        return Task.failed(error)


def as_written_here(pipeline: Pipeline) -> Pipeline:
    """The pipeline with the schedules of kernels that won their races on this machine."""
    if _KERNELS not in pipeline.ids:
        return pipeline
    from profiling.kernels.generated.won_schedules import with_won_schedules  # as large as races

    return with_won_schedules(pipeline, records)


def pipeline_task(pipeline: Pipeline, model: OpenedModel) -> Task[OpenedRun]:
    """Running any pipeline over an opened model."""
    return tasks().start(
        ("run", model.key, run_key(pipeline)), partial(store().run, model, pipeline)
    )


def verify_task(model: OpenedModel, run: OpenedRun) -> Task[Verified]:
    """Comparing the optimized model with its source."""
    return tasks().start(("verify", model.key, run.key), partial(store().verified, model, run))


def verification(model: OpenedModel, run: OpenedRun) -> Task[Verified] | None:
    """The same, if somebody has begun it."""
    return tasks().get(("verify", model.key, run.key))


def layouts_task(model: OpenedModel, run: OpenedRun) -> Task[Path]:
    """Layouts of a run's values, which the viewer is offered as an overlay."""
    return tasks().start(("layouts", model.key, run.key), partial(_layouts, model, run))


def _layouts(model: OpenedModel, run: OpenedRun, **following: Unpack[Following]) -> Path:
    """A little at a time: who asks passes needs the worker that has the run open, too."""
    done = store().has(LAYOUTS, (model, run), None)
    while not done:
        with turns().ahead(run.folder, 0):
            done = store().prepare(look_at_some, run, AHEAD_SECONDS, **following)
    return store().get(LAYOUTS, (model, run), None, **following)


def source_layouts_task(model: OpenedModel) -> Task[Path]:
    """Those of the source alone, where nobody has asked for a run."""
    return tasks().start(("layouts", model.key), partial(_source_layouts, model))


def _source_layouts(model: OpenedModel, **following: Unpack[Following]) -> Path:
    run = store().run(model, Pipeline.of("none"), **following)
    return store().get(LAYOUTS, (model, run), None, **following)


def preview_task(model: OpenedModel, run: OpenedRun, step: int) -> Task[StepPreview]:
    """What passes would do at a step of a run; the same task for all that ask this."""
    work = partial(_preview, model, run, step)
    return tasks().start(PREVIEW.key((model, run), step), work)


def soon_task(model: OpenedModel, run: OpenedRun, step: int) -> Task[StepPreview]:
    """As much of it as can be said soon; more is said after `forget_preview`."""
    return tasks().start(_soon_key(model, run, step), partial(_soon, model, run, step))


def forget_preview(model: OpenedModel, run: OpenedRun, step: int) -> None:
    """What was told: there may be more to say by now, and what failed is tried again."""
    tasks().drop(_soon_key(model, run, step))
    tasks().drop_failed(PREVIEW.key((model, run), step))


def _soon_key(model: OpenedModel, run: OpenedRun, step: int) -> tuple[object, ...]:
    return "what-if soon", model.key, run.key, step


def _soon(
    model: OpenedModel, run: OpenedRun, step: int, **following: Unpack[Following]
) -> StepPreview:
    if not _is_answered(model, run, step):
        with turns().answering(run.folder):
            found = store().prepare(ask_soon, run, step, **following)
        if found.unasked:
            return found
    return _preview(model, run, step, **following)


def _preview(
    model: OpenedModel, run: OpenedRun, step: int, **following: Unpack[Following]
) -> StepPreview:
    with nullcontext() if _is_answered(model, run, step) else turns().answering(run.folder):
        return store().get(PREVIEW, (model, run), step, **following)


def _is_answered(model: OpenedModel, run: OpenedRun, step: int) -> bool:
    return store().has(PREVIEW, (model, run), step)


def ask_ahead(model: OpenedModel, run: OpenedRun, step: int = 0) -> None:
    """Have the passes asked about a step, and the trace open, before anybody wants to know.

    About the source they are asked in any case, about another step until somebody rests elsewhere.
    """
    if step:
        turns().rest(run.folder, step)
    work = partial(_ask_ahead, model, run, step)
    tasks().start(("what-if ahead", model.key, run.key, step), work)


def _ask_ahead(
    model: OpenedModel, run: OpenedRun, step: int, **following: Unpack[Following]
) -> None:
    """Another step is forgotten afterwards; that the source was asked about is remembered."""
    try:
        _ask_in_turn(model, run, step, following)
    finally:
        if step:
            turns().leave(run.folder, step)
            tasks().drop(("what-if ahead", model.key, run.key, step))


def _ask_in_turn(model: OpenedModel, run: OpenedRun, step: int, following: Following) -> None:
    """A little at a time; of a source with answers, what helps to ask about other steps."""
    answered = _is_answered(model, run, step)
    if answered and step:
        return
    layouts = tasks().get(("layouts", model.key, run.key))
    if step == 0 and layouts is not None:
        layouts.wait(_LAYOUTS_PATIENCE_S)  # steps far from the source
    done = False
    while not done:
        with turns().ahead(run.folder, step) as wanted:
            if not wanted:
                return
            done = store().prepare(ask_some, run, None if answered else step, **following)
    _preview(model, run, step, **following)


def upload_task(files: dict[str, bytes]) -> Task[OpenedModel]:
    """Opening uploaded files."""
    key = ("upload", tuple((name, hash(data)) for name, data in files.items()))
    return _start_anew(key, partial(store().open_upload, files))


def path_task(path: str) -> Task[OpenedModel]:
    """Opening a file of the server."""
    return _start_anew(("path", path), partial(_open_path, path))


def _start_anew(key: tuple[object, ...], work: Work[OpenedModel]) -> Task[OpenedModel]:
    """A file that failed, or changed since, is read anew; one being read is not read twice."""
    known = tasks().get(key)
    if known is not None and known.done:
        tasks().drop(key)
    return tasks().start(key, work)


def _open(model: str, *, progress: Progress, cancelled: Callable[[], bool]) -> OpenedModel:
    if any(entry.id == model for entry in gallery.entries()):
        progress("unpacking", 0.0)
        path = gallery.open_path(model)
        return store().open_file(path, name=model, progress=progress, cancelled=cancelled)
    if Path(model).is_absolute():
        return _open_path(model, progress=progress, cancelled=cancelled)
    known = store().model(model)
    if known is None:
        raise StudioError(
            f"This server has no model {quoted(model)}. Open it again on the Model page."
        )
    return known


def _open_path(text: str, **following: Unpack[Following]) -> OpenedModel:
    if os.environ.get(LOCAL_FILES) == "0":
        raise StudioError("This server does not open files of its own; upload the model instead.")
    path = Path(text).expanduser()
    if path.is_dir():
        raise StudioError(f"{quoted(Path(text))} is a folder; name the .onnx file in it.")
    return store().open_file(path, name=path.name, **following)
