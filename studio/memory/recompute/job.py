"""Less memory for more arithmetic: the curve of a graph, and the models on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from optimizer.codec import Format
from optimizer.isolation import Progress
from optimizer.memory.order import apply_order, reorder
from optimizer.memory.registry import Budget
from optimizer.memory.rematerialization import Copy, Rematerialized, rematerialize
from optimizer.model.writer import write
from optimizer.passes.memory.recompute_values import RecomputeValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.graph_at import TraceFiles, own_graph_at
from studio.artifacts.artifact import Artifact, File, Value
from studio.memory.subject import ORDER_SECONDS, ArenaRequest, open_step


@dataclass(frozen=True, slots=True)
class PeakCurve:
    """The peak for ever more arithmetic.

    Attributes:
        points: the first one is the graph as it is.
        order: ids of the nodes in the order in which they run; empty for the file's.
    """

    points: tuple[Rematerialized, ...]
    order: tuple[str, ...] = ()


def find_curve(files: TraceFiles, request: ArenaRequest, *, progress: Progress) -> PeakCurve:
    """The curve of a request.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    graph = open_step(files, request).graph
    options, sizes = request.options, dict(request.sizes)
    order: tuple[str, ...] = ()
    if request.order != "file":
        budget = Budget(ORDER_SECONDS)
        order = reorder(graph, request.order, options=options, sizes=sizes, budget=budget).nodes
    progress("looking for what to compute again", 0.3)
    return PeakCurve(rematerialize(graph, order or None, options=options, sizes=sizes), order)


CURVE: Artifact[ArenaRequest, PeakCurve] = Artifact(
    "memory-recompute", find_curve, Value(Format(PeakCurve, "passlens.recompute/1", "curve"))
)
"""Unknown sizes are an error."""

Recomputed = tuple[int, tuple[str, ...], tuple[Copy, ...]]
"""A step, its nodes in the order of a curve, and what runs again just before what."""


def write_recomputed(
    files: TraceFiles, request: Recomputed, folder: Path, *, progress: Progress
) -> None:
    """Write the model of a step in which some nodes run again.

    Raises:
        StudioError: the trace cannot be read, or it is no order of the nodes.
    """
    progress("writing the model", 0.5)
    step, order, copies = request
    model = own_graph_at(files, step)
    if order:
        model = apply_order(model, order)
    optimize(model, Pipeline((RecomputeValues(copies=copies),)))
    write(model.ir, folder / "recompute.onnx")


RECOMPUTED: Artifact[Recomputed, Path] = Artifact(
    "recomputed", write_recomputed, File(lambda _: "recompute.onnx")
)
"""The ONNX file of a step with some nodes running again."""
