"""Maps of an open run: made by a worker, found in the store from then on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.isolation import Isolate, Progress
from optimizer.memory.arena import Arena
from optimizer.memory.facts import floor_bytes, live_bytes, region_bytes, worst_case_bytes
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, make_plan
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.memory.arena_map import ArenaMap, NodeLabel, from_json, to_json
from studio.memory.kept import Subject, folder_of, make, read_json, write_json
from studio.memory.request import ArenaRequest
from studio.memory.subject import (
    arena_of,
    body_graphs,
    free_dimensions,
    label_of,
    labels,
    value_names,
    with_sizes,
)

MAP = "map.json.gz"


@dataclass(frozen=True, slots=True)
class MapRequest:
    """An arena and who plans it."""

    arena: ArenaRequest
    planner: str
    seconds: float


def plan_map(files: TraceFiles, request: MapRequest, file: Path, *, progress: Progress) -> None:
    """Write the map of a request.

    Raises:
        StudioError: the trace cannot be read, or there is no such planner.
    """
    progress(f"planning step {request.arena.step}", 0.2)
    with collection_paused(), trace_cursor(files) as cursor:
        here = cursor.seek(request.arena.step)
        model = with_sizes(here, files, request.arena)
        free = free_dimensions(here.graph, dict(request.arena.sizes))
        write_json(file, to_json(planned_map(model.graph, request, free)))


def planned_map(graph: ir.Graph, request: MapRequest, free: Mapping[str, int]) -> ArenaMap:
    """Lifetimes, plan and facts of a graph and its bodies.

    Args:
        graph: with shapes.
        request: what may share memory, and who plans.
        free: its free dimensions with their sizes.

    Raises:
        StudioError: there is no such planner or order.
    """
    arena, note = arena_of(graph, request.arena)
    return _map(graph, arena, request, owner=None, free=free, note=note)


def _map(
    graph: ir.Graph,
    arena: Arena,
    request: MapRequest,
    *,
    owner: NodeLabel | None,
    free: Mapping[str, int],
    note: str = "",
) -> ArenaMap:
    inner = body_graphs(graph)
    bodies = [
        _map(inner[body.graph][1], body, request, owner=label_of(inner[body.graph][0]), free={})
        for body in arena.bodies
        if body.graph in inner
    ]
    known = all(one.region != "activations" for one in arena.unknown)
    shared = {value for one in arena.lifetimes if len(one.values) > 1 for value in one.values}
    return ArenaMap(
        replace(arena, bodies=()),
        dict(labels(graph)),
        owner,
        {value: name for value, name in value_names(graph).items() if value in shared},
        _plan(arena, request) if known else None,
        live_bytes(arena) if known else (),
        floor_bytes(arena) if known else 0,
        worst_case_bytes(arena) if known else 0,
        region_bytes(arena),
        free,
        note,
        tuple(bodies),
    )


def _plan(arena: Arena, request: MapRequest) -> Plan:
    return make_plan(request.planner, arena.buffers(), Budget(request.seconds))


def maps_key(
    model: OpenedModel, run: OpenedRun, wanted: Sequence[MapRequest]
) -> tuple[object, ...]:
    """Equal maps have equal keys."""
    return ("memory-maps", model.key, run.key, tuple(wanted))


def run_maps(
    isolate: Isolate,
    subject: Subject,
    wanted: Sequence[MapRequest],
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> tuple[ArenaMap, ...]:
    """The map of every request.

    Raises:
        StudioError: a planner or an order does not exist, the worker died, or it was cancelled.
    """
    found: list[ArenaMap] = []
    for request in wanted:
        file = folder_of(subject[1], "map", request) / MAP
        make(
            isolate, subject, plan_map, request,
            file=file, progress=progress, cancelled=cancelled,
        )  # fmt: skip
        found.append(_read(file))
    return tuple(found)


@lru_cache(maxsize=64)
def _read(path: Path) -> ArenaMap:
    """A folder never changes, so what was read stays true."""
    return from_json(read_json(path))
