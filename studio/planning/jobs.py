"""Jobs of the Memory page, for worker processes: each writes one file into a folder it is given."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.isolation import Progress
from optimizer.memory.arena import Arena
from optimizer.memory.facts import floor_bytes, live_bytes, region_bytes, worst_case_bytes
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, make_plan
from studio.planning.arena_map import ArenaMap, NodeLabel, to_json
from studio.planning.request import ArenaRequest
from studio.planning.subject import (
    arena_of,
    body_graphs,
    free_dimensions,
    label_of,
    labels,
    open_trace,
    seek,
    value_names,
)

MAP = "map.json.gz"


@dataclass(frozen=True, slots=True)
class MapRequest:
    """An arena and who plans it."""

    arena: ArenaRequest
    planner: str
    seconds: float


def plan_maps(
    folder: Path,
    run_folder: Path,
    wanted: Sequence[tuple[MapRequest, Path]],
    *,
    progress: Progress,
) -> None:
    """Write the map of each request into its folder.

    Raises:
        StudioError: the trace cannot be read, or there is no such planner.
    """
    progress("reading", 0.0)
    with collection_paused():
        cursor = open_trace(folder, run_folder)
        for number, (request, target) in enumerate(wanted):
            progress(f"planning step {request.arena.step}", 0.2 + 0.8 * number / len(wanted))
            model = seek(cursor, folder, run_folder, request.arena)
            free = free_dimensions(cursor.model.graph, dict(request.arena.sizes))
            write_json(target / MAP, to_json(planned_map(model.graph, request, free)))


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


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Compressed JSON."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), compresslevel=3, mtime=0))


def read_json(path: Path) -> dict[str, Any]:
    """What `write_json` wrote."""
    return json.loads(gzip.decompress(path.read_bytes()))
