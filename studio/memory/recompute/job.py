"""Less memory for more arithmetic: the curve of a graph, and the models on it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from optimizer.isolation import Isolate, Progress
from optimizer.memory.registry import Budget
from optimizer.memory.rematerialization import Rematerialized, rematerialize, with_copies
from optimizer.model.writer import write
from optimizer.rewrite.graph_at import TraceFiles
from studio.memory.kept import Kept, Subject, folder_of, make, write_json
from studio.memory.request import ArenaRequest
from studio.memory.subject import find_order, model_of, open_step

SECONDS = 10.0

Copies = tuple[tuple[str, str], ...]
Curve = tuple[Rematerialized, ...]


def find_curve(files: TraceFiles, request: ArenaRequest, file: Path, *, progress: Progress) -> None:
    """Write the curve of a request.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    graph = open_step(files, request).graph
    order = find_order(graph, request).nodes if request.order != "file" else None
    progress("looking for what to compute again", 0.3)
    points = rematerialize(
        graph,
        order,
        options=request.options,
        sizes=dict(request.sizes),
        budget=Budget(SECONDS),
    )
    write_json(file, {"points": [asdict(point) for point in points]})


def _curve(data: dict[str, Any]) -> Curve:
    return tuple(map(_point, data["points"]))


def _point(data: dict[str, Any]) -> Rematerialized:
    copies = tuple((node, before) for node, before in data["copies"])
    known: dict[str, Any] = {**data, "copies": copies}
    return Rematerialized(**known)


CURVE: Kept[ArenaRequest, Curve] = Kept("recompute", find_curve, _curve)
"""Its first point is the graph as it is; unknown sizes are an error."""


def write_copied(files: TraceFiles, request: tuple[int, Copies], file: Path) -> None:
    """Write the model of a step with copies of some nodes.

    Raises:
        StudioError: the trace cannot be read, or a copy cannot be made.
    """
    step, copies = request
    model = model_of(open_step(files, ArenaRequest(step)))
    write(with_copies(model, copies).ir, file)


def copied_file(isolate: Isolate, subject: Subject, step: int, copies: Copies) -> Path:
    """The ONNX file of a step with some nodes running again; made on first use.

    Raises:
        StudioError: a copy cannot be made, or the worker died.
    """
    file = folder_of(subject[1], "copied", step, copies) / "recompute.onnx"
    return make(isolate, subject, write_copied, (step, copies), file=file)
