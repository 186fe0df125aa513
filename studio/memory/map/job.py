"""Maps of an open run: made by a worker, found in the store from then on."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.isolation import Progress
from optimizer.memory.planned import PlannedArena, plan_arena
from optimizer.memory.registry import Budget, planners
from optimizer.model.graph import value_id, walk_nodes
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from studio.artifacts.artifact import Artifact, Value
from studio.graphview.text import cut
from studio.memory.arena_map import MAP_FORM, ArenaMap
from studio.memory.subject import ArenaRequest, arena_of, free_dimensions, labels, with_sizes

ALL = "all"


@dataclass(frozen=True, slots=True)
class MapRequest:
    """An arena and who plans it: a planner and the bodies as well, or all planners."""

    arena: ArenaRequest
    planner: str
    seconds: float


def plan_map(files: TraceFiles, request: MapRequest, *, progress: Progress) -> ArenaMap:
    """Lifetimes, plans and facts of a step's graph.

    Raises:
        StudioError: the trace cannot be read, there is no such planner or order.
    """
    progress(f"planning step {request.arena.step}", 0.1)
    with collection_paused(), trace_cursor(files) as cursor:
        here = cursor.seek(request.arena.step)
        graph = with_sizes(here, files, request.arena).graph
        free = free_dimensions(here.graph, dict(request.arena.sizes))
        planned = _planned(graph, request, progress)
        known = {field.name: getattr(planned, field.name) for field in fields(planned)}
        return ArenaMap(
            **known, labels=labels(graph), names=_shared_names(graph, planned), free=free
        )


def _planned(graph: ir.Graph, request: MapRequest, progress: Progress) -> PlannedArena:
    arena, note = arena_of(graph, request.arena)
    who = [request.planner]
    if request.planner == ALL:
        arena, who = replace(arena, bodies=()), [planner.id for planner in planners()]
    return plan_arena(arena, who, lambda: Budget(request.seconds), note=note, progress=progress)


def _shared_names(graph: ir.Graph, planned: PlannedArena) -> dict[str, str]:
    """Display names of values that share memory with others, by id."""
    arenas = [planned.arena]
    for arena in arenas:
        arenas += arena.bodies
    lifetimes = (one for arena in arenas for one in arena.lifetimes)
    shared = {value for one in lifetimes if len(one.values) > 1 for value in one.values}
    made = (value for node in walk_nodes(graph) for value in node.outputs)
    return {value_id(value): cut(value.name or "") for value in made if value_id(value) in shared}


MAP: Artifact[MapRequest, ArenaMap] = Artifact("memory-map", plan_map, Value(MAP_FORM))
"""One step's arena with its plans; an order or a planner that does not exist is an error."""
