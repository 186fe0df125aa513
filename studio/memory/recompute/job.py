"""Less memory for more arithmetic: the curve of a graph, and the models on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from optimizer.codec import Format
from optimizer.isolation import Progress
from optimizer.memory.order import reorder
from optimizer.memory.registry import Budget
from optimizer.memory.rematerialization import Rematerialized, rematerialize, with_copies
from optimizer.model.writer import write
from optimizer.rewrite.graph_at import TraceFiles
from studio.artifacts.artifact import Artifact, File, Value
from studio.memory.request import ArenaRequest
from studio.memory.subject import ORDER_SECONDS, model_of, open_step

SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Curve:
    """Its first point is the graph as it is."""

    points: tuple[Rematerialized, ...]


def find_curve(files: TraceFiles, request: ArenaRequest, *, progress: Progress) -> Curve:
    """The curve of a request.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    graph = open_step(files, request).graph
    options, sizes = request.options, dict(request.sizes)
    order = None
    if request.order != "file":
        budget = Budget(ORDER_SECONDS)
        order = reorder(graph, request.order, options=options, sizes=sizes, budget=budget).nodes
    progress("looking for what to compute again", 0.3)
    budget = Budget(SECONDS)
    return Curve(rematerialize(graph, order, options=options, sizes=sizes, budget=budget))


CURVE: Artifact[ArenaRequest, Curve] = Artifact(
    "memory-recompute", find_curve, Value(Format(Curve, "passlens.recompute/1", "curve"))
)
"""Unknown sizes are an error."""

Copied = tuple[int, tuple[tuple[str, str], ...]]
"""A step, and what runs again just before what."""


def write_copied(files: TraceFiles, request: Copied, folder: Path, *, progress: Progress) -> None:
    """Write the model of a step with copies of some nodes.

    Raises:
        StudioError: the trace cannot be read, or a copy cannot be made.
    """
    progress("writing the model", 0.5)
    step, copies = request
    model = model_of(open_step(files, ArenaRequest(step)))
    write(with_copies(model, copies).ir, folder / "recompute.onnx")


COPIED: Artifact[Copied, Path] = Artifact(
    "recomputed", write_copied, File(lambda _: "recompute.onnx")
)
"""The ONNX file of a step with some nodes running again."""
