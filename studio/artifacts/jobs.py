"""What the studio computes, as functions for worker processes.

Each reads files, writes files into a folder of the store, and returns nothing large. They are
module-level and their arguments are plain data, so that they can travel.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import graphviz
import onnx_ir as ir

from optimizer.errors import RunError, StudioError
from optimizer.isolation import Isolate, Progress, within_worker
from optimizer.limits import JobLimits
from optimizer.model.graph import Model, count_nodes
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.placement import INLINE_BYTES as ONE_FILE_BYTES
from optimizer.model.placement import linked, weights
from optimizer.model.storage import data_file
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.registry import GraphPass
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.graph_at import TraceFiles, graph_at, remember_cursor, trace_cursor
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import save_trace
from optimizer.source import complete
from profiling.workers import WorkerPool
from studio.artifacts.artifact import Artifact, File
from studio.artifacts.code_version import code_version
from studio.artifacts.opened import RESULT_FORM, SOURCE, TRACE, PassCounts, RunResult
from studio.artifacts.preview import asked_beside, keep_told
from studio.graphview.dot import MOST_DRAWN, box_count, dot_text
from studio.graphview.graph_file import graph_json, groups_of
from studio.graphview.steps_file import steps_json
from studio.graphview.summary import SUMMARY, summary_of

GRAPH = "graph.json.gz"
SUMMARY_FILE = "summary.json"
STEPS = "steps.json.gz"
RESULT = "result.json"
WHOLE_TRACE = "run.trace"

INLINE_BYTES = 1 << 20
"""More weights than this stand beside the source: every job reads it again."""


LINKED_BYTES = 1 << 30
"""More weights than this in data files are not copied: the source refers to them by links."""


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A model to open.

    Attributes:
        key: the folder's name in the store.
        name: display text.
        path: the model file.
        companions: name -> file for everything uploaded with it; None for a file on this machine,
            whose side files lie in its own folder.
        bind: dimension sizes.
        native: whether native shape inference may be used.
    """

    key: str
    name: str
    path: Path
    companions: dict[str, Path] | None
    bind: dict[str, int]
    native: bool = True


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """A picture of a step.

    Attributes:
        step: which.
        open: ids of the groups drawn open; None for as many as fit.
        format: a Graphviz output format.
    """

    step: int
    open: tuple[str, ...] | None
    format: Literal["svg", "png", "pdf", "dot"]


def open_model(request: OpenRequest, folder: Path, *, progress: Progress) -> None:
    """Load a model and write its source graph, drawing and summary into `folder`.

    Raises:
        StudioError: the model cannot be opened.
    """
    progress("reading", 0.0)
    model = _load(request)
    progress("inferring shapes", 0.3)
    isolate = within_worker if request.native else _no_native
    model = complete(model, isolate=isolate, bind=request.bind)
    progress("drawing", 0.7)
    groups = groups_of(model.ir.graph)
    drawing = graph_json(model.ir.graph, key=request.key, name=request.name, groups=groups)
    _write_gzip(folder / GRAPH, drawing)
    if model.statuses.optimizable.ok:
        _write_linked(model.ir, folder / SOURCE, inline_bytes=INLINE_BYTES)
    summary = SUMMARY.to_json(replace(summary_of(model), name=request.name))
    (folder / SUMMARY_FILE).write_text(_dump({**summary, "code": code_version()}))


def _write_linked(model: ir.Model, path: Path, *, inline_bytes: int) -> None:
    """Write a model into a folder of the store; large data files are linked to."""
    beside = sum(tensor.nbytes for tensor in weights(model) if data_file(tensor) is not None)
    if beside < LINKED_BYTES:
        write(model, path, inline_bytes=inline_bytes)
    else:
        write(model, path, placement=linked(model, path.parent, inline_bytes=inline_bytes))


def rewrite_model(
    folder: Path, target: Path, pipeline: dict[str, Any], *, progress: Progress
) -> None:
    """Run a pipeline over the source in `folder`; trace, steps and result go to `target`.

    Raises:
        StudioError: the model may not be optimized.
    """
    model = load_path(folder / SOURCE, follow_links=True)
    nodes_before = count_nodes(model.ir.graph)
    chosen = Pipeline.from_json(pipeline)
    with asked_beside(model.ir, chosen) as asking:
        with _isolate_for(chosen) as isolate:
            trace = optimize(model, chosen, stop=Stop(), progress=progress, isolate=isolate)
        nodes_after = count_nodes(model.ir.graph)
        progress("drawing the steps", 0.8)
        cursor = Cursor.at_end(trace)
        save_trace(cursor, target / TRACE, with_source=False)
        cursor.seek(0)
        groups = groups_of(model.ir.graph)
        steps = steps_json(cursor, key=target.name, graph_key=folder.name, groups=groups)
        _write_gzip(target / STEPS, steps)
        keep_told(cursor, asking.end(), target)
    remember_cursor(TraceFiles(folder / SOURCE, target / TRACE), cursor)
    totals = {metric: (first, last) for metric, (first, last) in steps["totals"].items()}
    nodes = (nodes_before, nodes_after)
    result = RunResult(
        trace.steps,
        nodes,
        trace.seconds,
        trace.stopped,
        trace.exactness == "exact",
        totals,
        lossy=trace.exactness == "lossy",
        passes=_pass_counts(trace),
    )
    (target / RESULT).write_bytes(RESULT_FORM.dumps(result))


def _pass_counts(trace: Trace) -> dict[str, PassCounts]:
    declined = Counter(entry.pass_id for entry in trace.declined)
    first: dict[str, int] = {}
    for rewrite in trace.rewrites:
        first.setdefault(rewrite.pass_id, rewrite.step)
    return {
        pass_id: PassCounts(timing.rewrites, declined[pass_id], first.get(pass_id, 0))
        for pass_id, timing in trace.timings.items()
        if timing.rewrites or declined[pass_id]
    }


@contextmanager
def _isolate_for(pipeline: Pipeline) -> Generator[Isolate]:
    """Where foreign tools run: other projects' optimizers not even in this worker process."""
    if any(isinstance(planned, GraphPass) for planned in pipeline.passes):
        with closing(WorkerPool(size=1, modules=())) as pool:
            yield pool
    else:
        yield within_worker


def write_step(files: TraceFiles, step: int, folder: Path, *, progress: Progress) -> None:
    """Write the ONNX file of a step.

    Raises:
        TraceError: there is no such step.
    """
    progress("writing the model", 0.5)
    _write_linked(graph_at(files, step), folder / _step_file(step), inline_bytes=ONE_FILE_BYTES)


def write_trace(files: TraceFiles, request: None, folder: Path, *, progress: Progress) -> None:
    """Write the whole trace, source included, as one file."""
    del request
    progress("writing the trace", 0.5)
    with trace_cursor(files) as cursor:
        save_trace(cursor, folder / WHOLE_TRACE)


def draw(files: TraceFiles, view: PictureRequest, folder: Path, *, progress: Progress) -> None:
    """Draw a step, folded as asked, with Graphviz (or write its DOT source).

    Raises:
        StudioError: there are too many boxes, or no `dot` on this machine.
    """
    progress("laying out the picture", 0.2)
    model = graph_at(files, view.step)
    drawing = graph_json(model.graph, key="", name="", groups=groups_of(model.graph))
    boxes = box_count(drawing, open_groups=view.open)
    if boxes > MOST_DRAWN and view.format != "dot":
        raise StudioError(
            f"{boxes} boxes are too many for a picture (limit {MOST_DRAWN}); close some groups."
        )
    text, target = dot_text(drawing, open_groups=view.open), folder / _picture_file(view)
    if view.format == "dot":
        target.write_text(text)
    else:
        target.write_bytes(_render(text, view.format))


def _step_file(step: int) -> str:
    return f"step-{step}.onnx"


def _picture_file(view: PictureRequest) -> str:
    return f"step-{view.step}.{view.format}"


STEP: Artifact[int, Path] = Artifact("step", write_step, File(_step_file), limits=JobLimits())
"""The ONNX file of a step."""

EXPORTED: Artifact[None, Path] = Artifact(
    "trace", write_trace, File(lambda _: WHOLE_TRACE), limits=JobLimits()
)
"""The trace as a file of its own, with its source."""

PICTURE: Artifact[PictureRequest, Path] = Artifact(
    "picture", draw, File(_picture_file), limits=JobLimits(seconds=60)
)
"""A picture of a step; too many boxes, or no `dot`, are an error."""


def _render(text: str, file_format: str) -> bytes:
    try:
        return graphviz.Source(text).pipe(format=file_format)
    except graphviz.ExecutableNotFound:
        raise StudioError(
            "Graphviz's 'dot' is not installed on this machine; install the package 'graphviz',"
            " or take the DOT source."
        ) from None


def _load(request: OpenRequest) -> Model:
    if request.companions is None:
        return load_path(request.path)
    data = request.path.read_bytes()
    return load_bytes(data, name=request.name, companions=request.companions)


def _no_native(function: Callable[..., Any], *args: object, **options: object) -> Any:
    raise RunError("Native shape inference was left out: it crashed on this model.")


def _write_gzip(path: Path, data: dict[str, Any]) -> None:
    path.write_bytes(gzip.compress(_dump(data).encode(), compresslevel=5, mtime=0))


def _dump(data: dict[str, Any]) -> str:
    return json.dumps(data, allow_nan=False, separators=(",", ":"))
