"""The lazy allocator as a film: its events, and where naive and best put the same buffers.

The browser plays it by itself: every event carries what it changes, so that a state is reached
forwards and backwards without asking the server.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from optimizer.isolation import Progress
from optimizer.memory.arena import Arena, Lifetime
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.lazy_allocator import AllocatorEvent, film
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, find_planner, make_plan
from optimizer.rewrite.graph_at import TraceFiles
from studio.artifacts.artifact import Artifact, File
from studio.artifacts.opened import Subject
from studio.artifacts.store import Store
from studio.graphview.text import cut, dims_text
from studio.memory.arena_map import NodeLabel
from studio.memory.subject import ArenaRequest, arena_of, labels, open_step

SCHEMA = "passlens.film/1"
KINDS = ("allocate", "reuse", "split", "grow", "free", "merge")
LANES = ("naive", "lazy-best-fit", "best")
BEST_SECONDS = 2.0
"""How long the best planner may search; it ends at once where it meets the bound."""

FILE = "film.json.gz"
_NAME = re.compile(r"film-[0-9a-f]{16}")


def film_json(
    arena: Arena, labelled: Mapping[str, NodeLabel], *, budget: Budget | None = None
) -> dict[str, Any]:
    """`passlens.film/1`: nodes as they run, buffers, events, and three plans.

    Args:
        arena: its activations are what is planned.
        labelled: the nodes of the arena's graph, by id.
        budget: of the best plan.

    Raises:
        PlanError: some sizes are unknown.
    """
    planned = arena.buffers()
    # What takes no memory makes no event.
    visible = [i for i, buffer in enumerate(planned) if buffer.size_bytes and buffer.steps > 0]
    buffers = [planned[i] for i in visible]
    activations = arena.of("activations")
    lifetimes = [activations[i] for i in visible]
    place = {node: step for step, node in enumerate(arena.nodes)}
    return {
        "schema": SCHEMA,
        "alignment": arena.alignment,
        "bound": lower_bound(buffers),
        "nodes": [
            [node, label.name, label.op, label.category]
            for node in arena.nodes
            for label in [labelled.get(node, NodeLabel("", "", "unknown"))]
        ],
        "buffers": _buffers(buffers, lifetimes, place),
        "events": _events(film(buffers), buffers),
        "lanes": [_lane(make_plan(planner, buffers, budget)) for planner in LANES],
    }


def _buffers(
    buffers: Sequence[Buffer], lifetimes: Sequence[Lifetime], place: Mapping[str, int]
) -> dict[str, list[Any]]:
    return {
        "name": [cut(life.name, 200) for life in lifetimes],
        "node": [place.get(life.node, -1) for life in lifetimes],
        "size": [buffer.size_bytes for buffer in buffers],
        "start": [buffer.start for buffer in buffers],
        "end": [buffer.end for buffer in buffers],
        "type": [f"{life.dtype} {dims_text(life.shape)}".strip() for life in lifetimes],
        "values": [len(life.values) for life in lifetimes],
    }


def _events(events: Sequence[AllocatorEvent], buffers: Sequence[Buffer]) -> dict[str, list[Any]]:
    place = {buffer.name: index for index, buffer in enumerate(buffers)}
    return {
        "kind": [KINDS.index(event.kind) for event in events],
        "buffer": [place[event.buffer] for event in events],
        "offset": [event.offset for event in events],
        "peak": [event.peak_bytes for event in events],
        "used": [event.used_bytes for event in events],
        "removed": [list(chain(*event.removed)) for event in events],
        "added": [list(chain(*event.added)) for event in events],
    }


def _lane(plan: Plan) -> dict[str, Any]:
    return {
        "id": plan.planner,
        "title": find_planner(plan.planner).title,
        "offsets": list(plan.offsets),
        "peak": plan.peak_bytes,
        "certificate": plan.certificate,
        "note": cut(plan.note, 120),
    }


def make_film(
    files: TraceFiles, request: ArenaRequest, folder: Path, *, progress: Progress
) -> None:
    """Write the film of a step's graph; for a worker process.

    Raises:
        StudioError: there is no such step, or some sizes are unknown.
    """
    progress("reading the graph", 0.1)
    graph = open_step(files, request).graph
    progress("finding lifetimes", 0.3)
    arena, _ = arena_of(graph, request)
    progress("planning", 0.5)
    made = film_json(arena, labels(graph), budget=Budget(BEST_SECONDS))
    text = json.dumps(made, allow_nan=False, separators=(",", ":")).encode()
    (folder / FILE).write_bytes(gzip.compress(text, compresslevel=5, mtime=0))


FILM: Artifact[ArenaRequest, Path] = Artifact("film", make_film, File(lambda _: FILE))
"""The film of a step's graph; unknown sizes are an error."""


def content_key(path: Path) -> str:
    """Of a film's file: the browser may keep what an address with it gave."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def film_url(subject: Subject, request: ArenaRequest, path: Path) -> str:
    """Where the browser finds a film."""
    model, run = subject
    return f"/api/film/{model.key}/{run.key}/{FILM.name(request)}/{content_key(path)}.json"


def film_file(store: Store, model_key: str, run_key: str, name: str, key: str) -> Path | None:
    """The file behind such an address."""
    steps = store.file(model_key, run_key)
    if steps is None or not _NAME.fullmatch(name):
        return None
    path = steps.parent / name / FILE
    return path if path.is_file() and content_key(path) == key else None
