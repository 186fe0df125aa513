"""How much memory every step of a trace needs, so that all steps are drawn on one scale."""

from __future__ import annotations

from dataclasses import dataclass, replace

from optimizer.codec import Format
from optimizer.collection import collection_paused
from optimizer.isolation import Progress
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from studio.artifacts.artifact import Artifact, Value
from studio.memory.subject import ArenaRequest, arena_of, lacks_sizes, with_sizes

MOST_STEPS = 240
MOST_NODES = 120_000
"""Nodes of all steps that are looked at together: some seconds of work."""

MOST_INFERRED = 24
"""Steps whose shapes are inferred anew, which takes about half a second each."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Some steps of a trace, the first and the last among them.

    Attributes:
        steps: numbers of the steps, rising.
        bound_bytes: the most that is alive at once at each of them; None where sizes are unknown.
        nodes: how many run at each of them.
    """

    steps: tuple[int, ...]
    bound_bytes: tuple[int | None, ...]
    nodes: tuple[int, ...]


def looked_at(steps: int, nodes: int, *, most: int = MOST_STEPS) -> list[int]:
    """The steps that are looked at, evenly spread where all would take too long.

    Args:
        steps: of the trace.
        nodes: of the source.
        most: how many at most.
    """
    most = max(2, min(most, MOST_NODES // max(1, nodes)))
    if steps + 1 <= most:
        return list(range(steps + 1))
    return sorted({round(index * steps / (most - 1)) for index in range(most)})


def walk_steps(files: TraceFiles, request: ArenaRequest, *, progress: Progress) -> Walk:
    """How much every step needs; the request's own step is of no account.

    Raises:
        StudioError: the trace cannot be read.
    """
    progress("reading", 0.0)
    with collection_paused(), trace_cursor(files) as cursor:
        cursor.seek(0)
        source = cursor.model.graph
        inferred = request.sizes and lacks_sizes(source, dict(request.sizes))
        most = MOST_INFERRED if inferred else MOST_STEPS
        steps = looked_at(cursor.trace.steps, len(source), most=most)
        bounds, nodes = list[int | None](), list[int]()
        for number, step in enumerate(steps):
            progress(f"step {step} of {cursor.trace.steps}", number / len(steps))
            model = with_sizes(cursor.seek(step), files, replace(request, step=step))
            arena, _ = arena_of(model.graph, request)
            known = not arena.unplanned
            bounds.append(max(arena.live_bytes(), default=0) if known else None)
            nodes.append(len(arena.nodes))
        return Walk(tuple(steps), tuple(bounds), tuple(nodes))


def _any_step(request: ArenaRequest) -> ArenaRequest:
    """What all steps and orders share."""
    return replace(request, step=0, order="file")


WALK: Artifact[ArenaRequest, Walk] = Artifact(
    "memory-walk",
    walk_steps,
    Value(Format(Walk, "passlens.memory-walk/1", "walk through a trace")),
    relevant=_any_step,
)
"""The walk through a run, the same for every step and order that is asked for."""
