"""Less memory for more arithmetic: the curve of a graph, and the models on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from optimizer.isolation import Isolate, Progress
from optimizer.memory.registry import Budget
from optimizer.memory.rematerialization import Rematerialized, rematerialize, with_copies
from optimizer.model.writer import write
from studio.planning.jobs import read_json, write_json
from studio.planning.kept import folder_of, make
from studio.planning.request import ArenaRequest
from studio.planning.subject import find_order, model_of, open_step
from studio.store import OpenedModel, OpenedRun

CURVE = "recompute.json.gz"
COPIED = "recompute.onnx"
SECONDS = 10.0

Copies = tuple[tuple[str, str], ...]


def find_curve(
    folder: Path,
    run_folder: Path,
    wanted: Sequence[tuple[ArenaRequest, Path]],
    *,
    progress: Progress,
) -> None:
    """Write the curve of each request.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    for request, target in wanted:
        graph = open_step(folder, run_folder, request).graph
        order = find_order(graph, request).nodes if request.order != "file" else None
        progress("looking for what to compute again", 0.3)
        points = rematerialize(
            graph,
            order,
            options=request.options,
            sizes=dict(request.sizes),
            budget=Budget(SECONDS),
        )
        write_json(target / CURVE, {"points": [asdict(point) for point in points]})


def write_copied(
    folder: Path,
    run_folder: Path,
    wanted: Sequence[tuple[tuple[ArenaRequest, Copies], Path]],
) -> None:
    """Write the model of each request with its copies.

    Raises:
        StudioError: the trace cannot be read, or a copy cannot be made.
    """
    for (request, copies), target in wanted:
        model = model_of(open_step(folder, run_folder, request))
        write(with_copies(model, copies).ir, target / COPIED)


def curve_key(model: OpenedModel, run: OpenedRun, request: ArenaRequest) -> tuple[object, ...]:
    """Equal curves have equal keys."""
    return ("memory-recompute", model.key, run.key, request)


def run_curve(
    isolate: Isolate,
    subject: tuple[OpenedModel, OpenedRun],
    request: ArenaRequest,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> tuple[Rematerialized, ...]:
    """The curve; its first point is the graph as it is.

    Raises:
        StudioError: sizes are unknown, the worker died, or it was cancelled.
    """
    folder = folder_of(subject[1], "recompute", request)
    make(isolate, subject, find_curve, [(request, folder)], progress=progress, cancelled=cancelled)
    return _read(folder / CURVE)


def copied_file(
    isolate: Isolate, subject: tuple[OpenedModel, OpenedRun], step: int, copies: Copies
) -> Path:
    """The ONNX file of a step with some nodes running again; made on first use.

    Raises:
        StudioError: a copy cannot be made, or the worker died.
    """
    folder = folder_of(subject[1], "copied", step, copies)
    make(isolate, subject, write_copied, [((ArenaRequest(step), copies), folder)])
    return folder / COPIED


@lru_cache(maxsize=16)
def _read(path: Path) -> tuple[Rematerialized, ...]:
    """A folder never changes, so what was read stays true."""
    return tuple(map(_point, read_json(path)["points"]))


def _point(data: dict[str, Any]) -> Rematerialized:
    copies = tuple((node, before) for node, before in data["copies"])
    known: dict[str, Any] = {**data, "copies": copies}
    return Rematerialized(**known)
