"""Layouts of a run's values, as an overlay of the viewer: a worker makes them behind the steps.

A value keeps its id as long as it is there, and its layout hardly ever changes meanwhile: the
source and the last step tell nearly all of them. For values that come and go in between, up to
`MOST_BETWEEN` more steps are looked at, each where most of those live that are still untold.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import onnx_ir as ir

from optimizer.codec import Format
from optimizer.cost.classes import operator_class
from optimizer.isolation import Progress
from optimizer.layout.inference import infer_layouts
from optimizer.model.graph import node_id, value_id, walk_nodes
from optimizer.operators.operator import OperatorClass
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Rewrite
from studio.overlays import overlay_of

MOST_BETWEEN = 8
"""A bound of the work: each costs about what the source does."""

_MOVES = {OperatorClass.TRANSPOSE, OperatorClass.BLOCK_TRANSPOSE}
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StepLayouts:
    """What a step has otherwise than the steps that were looked at before it; "" for no longer.

    Attributes:
        values: layouts by id of the value; an output of the graph is `o0`, `o1`, …
        conversions: "NCHW → NHWC" by id of the node that moves the data.
        contradictions: what an axis would have to be at once, by id of the node.
    """

    step: int
    values: Texts
    conversions: Texts
    contradictions: Texts


@dataclass(frozen=True, slots=True)
class RunLayouts:
    """Of a run, step by step."""

    steps: tuple[StepLayouts, ...]


LAYOUTS_FORM = Format(RunLayouts, "passlens.layouts/1", "layouts of a run")


def make_layouts(files: TraceFiles, *, progress: Progress) -> dict[str, Any]:
    """The layouts of a run as `passlens.layouts/1`; for a worker process.

    Raises:
        StudioError: as `graph_at`.
    """
    with trace_cursor(files) as cursor:
        looking = _looking_at(cursor)
        while looking.left:
            progress("inferring layouts", len(looking.found) / len(looking.steps))
            looking.look(cursor)
        return LAYOUTS_FORM.to_json(RunLayouts(tuple(looking.found)))


def look_at_some(files: TraceFiles, seconds: float) -> bool:
    """A part of what `make_layouts` has to do, which it then has done; for a worker process.

    Args:
        files: the trace, which is open from then on.
        seconds: of CPU time, after which no other step is begun.

    Returns:
        Whether nothing is left.

    Raises:
        StudioError: as `graph_at`.
    """
    until = time.thread_time() + seconds
    with trace_cursor(files) as cursor:
        looking = _looking_at(cursor)
        while looking.left:
            looking.look(cursor)
            if time.thread_time() > until:
                break
        return not looking.left


class _Looking:
    """How far the steps of an open trace have been looked at.

    Attributes:
        steps: those to look at.
        found: of the first of them, what is to be told.
    """

    def __init__(self, rewrites: Sequence[Rewrite]) -> None:
        self.steps = steps_looked_at(len(rewrites), _short_lives(rewrites))
        self.found: list[StepLayouts] = []
        self._told: tuple[dict[str, str], ...] = ({}, {}, {})

    @property
    def left(self) -> bool:
        """Whether there are steps to look at."""
        return len(self.found) < len(self.steps)

    def look(self, cursor: Cursor) -> None:
        """Look at the next step."""
        step = self.steps[len(self.found)]
        graph = cursor.seek(step).graph
        there = {node_id(node) for node in walk_nodes(graph)}
        both = zip(self._told, layouts_of(graph), strict=True)
        self.found.append(StepLayouts(step, *(_otherwise(*one, there) for one in both)))


_begun = WeakKeyDictionary[Cursor, _Looking]()


def _looking_at(cursor: Cursor) -> _Looking:
    return _begun.setdefault(cursor, _Looking(cursor.trace.rewrites))


LAYOUTS = overlay_of("layouts", make_layouts)
"""For every run, once its steps are there."""


def steps_looked_at(last: int, lives: Iterable[tuple[int, int]]) -> list[int]:
    """The source, the last step, and those in between that most values need.

    Args:
        last: the last step.
        lives: of nodes that neither of these has: the first step, and the one after.
    """
    chosen = {0, last}
    untold = list(lives)
    while untold and len(chosen) < MOST_BETWEEN + 2:
        change = np.zeros(last + 1, np.int64)
        for born, died in untold:
            change[born] += 1
            change[died] -= 1
        step = int(change.cumsum().argmax())
        chosen.add(step)
        untold = [(born, died) for born, died in untold if not born <= step < died]
    return sorted(chosen)


def _short_lives(rewrites: Sequence[Rewrite]) -> Iterator[tuple[int, int]]:
    born: dict[str, int] = {}
    for rewrite in rewrites:
        born.update(dict.fromkeys(rewrite.added, rewrite.step))
        for identity in rewrite.removed:
            if identity in born:
                yield born.pop(identity), rewrite.step


def layouts_of(graph: ir.Graph) -> tuple[Texts, Texts, Texts]:
    """Layouts of what nodes compute and the graph reads, conversions, contradictions: by id."""
    layouts = infer_layouts(graph)
    flowing = {v: text for v, text in layouts.of.items() if not v.is_initializer()}
    values = {value_id(value): text for value, text in flowing.items()}
    outputs = {f"o{i}": flowing[v] for i, v in enumerate(graph.outputs) if v in flowing}
    conversions = {
        node_id(node): f"{flowing[source]} → {flowing[made]}"
        for node in walk_nodes(graph)
        for source, made in zip(node.inputs[:1], node.outputs[:1], strict=False)
        if source in flowing and made in flowing and flowing[source] != flowing[made]
        if operator_class(node) in _MOVES
    }
    first = reversed(layouts.contradictions)  # of a node with several
    contradictions = {node_id(one.node): one.finding.message for one in first}
    return {**values, **outputs}, conversions, contradictions


def _otherwise(told: dict[str, str], now: Texts, there: Container[str]) -> Texts:
    """What is to be told now, and of which nodes that are there no longer; then it is told."""
    gone = (one for one, text in told.items() if text and one not in now)
    new = {one: text for one, text in now.items() if told.get(one) != text}
    new |= {one: "" for one in gone if one.partition(":")[0] in there}
    told.update(new)
    return new
