"""What if: what each pass would do to the graph at a step of a run, made by a worker when asked.

A question is asked in two parts, each an artifact of its own: passes that look at a node and what
is around it are soon done; those that look at the whole graph before they answer come after.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

from optimizer.codec import Format
from optimizer.isolation import Progress
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, passes
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.what_if import AskedGraph, Preview
from studio.artifacts.artifact import Artifact, Value

PASS_SECONDS = 0.1
"""CPU time of one pass; what it has found by then is told as "at least"."""
KNOW_SECONDS = 5.0
"""CPU time of finding out about values before anybody asks."""
PLANNING = frozenset({"kernels", "memory"})
"""Families that plan the whole graph, seconds long: they are not asked by the way."""

Part = Literal["local", "global"]
PARTS: Sequence[Part] = ("local", "global")
"""In the order in which they are asked, one after the other: both need the same open trace."""


@dataclass(frozen=True, slots=True)
class Question:
    """A part of what is asked about a step.

    Attributes:
        step: of the run.
        part: which passes are asked: those that analyse the whole graph first, or all others.
    """

    step: int
    part: Part


@dataclass(frozen=True, slots=True)
class StepPreview:
    """What passes would do at a step.

    Attributes:
        step: of the run.
        passes: those of the part that would act or come near, in running order.
    """

    step: int
    passes: tuple[Preview, ...]


def asked_passes(pipeline: Pipeline) -> list[Pass]:
    """Every registered pass that needs no plan, those of the pipeline with its options."""
    configured = {one.id: one for one in pipeline.passes}
    asked = (declared for declared in passes() if declared.family not in PLANNING)
    return [configured.get(declared.id) or declared() for declared in asked]


def make_preview(files: TraceFiles, question: Question, *, progress: Progress) -> StepPreview:
    """Ask the passes of a part about the graph at a step; for a worker process.

    Raises:
        StudioError: as `graph_at`.
    """
    progress("asking the passes", 0.0)
    with trace_cursor(files) as cursor:
        graph = _asked_graph(cursor, question.step)
        is_global = question.part == "global"
        asked = asked_passes(graph.pipeline)
        found = graph.previews([one for one in asked if one.global_analysis == is_global])
    return StepPreview(question.step, tuple(one for one in found if one.matches or one.declined))


def know_values(files: TraceFiles) -> None:
    """Open a trace, and find out what is certain of the values of its source; in a worker.

    Raises:
        StudioError: as `trace_cursor`.
    """
    with trace_cursor(files) as cursor:
        graph = _asked_graph(cursor, 0)
        until = time.thread_time() + KNOW_SECONDS
        for _, node in graph.nodes:
            if time.thread_time() > until:
                return
            for value in node.outputs:
                graph.symbolic.fact(value)


_asked = WeakKeyDictionary[Cursor, "_Asked"]()
"""Of an open trace what was asked about last: its second part needs the same facts."""


@dataclass(frozen=True, slots=True)
class _Asked:
    step: int
    opsets: Mapping[str, int]
    graph: AskedGraph


def _asked_graph(cursor: Cursor, step: int) -> AskedGraph:
    """The graph at a step; there it is the same again, wherever the cursor has been meanwhile.

    What is known of values holds at other steps of the same operator sets, too, as it does in a
    run; where a pass gave precision away, a value is not what it was.
    """
    model = cursor.seek(step)
    known = _asked.get(cursor)
    if known is not None and known.step == step:
        return known.graph
    opsets = dict(model.graph.opset_imports)
    holds = known is not None and known.opsets == opsets and cursor.trace.exactness != "lossy"
    graph = AskedGraph(
        model,
        Pipeline.from_json(cursor.trace.pipeline),
        seconds=PASS_SECONDS,
        symbolic=known.graph.symbolic if known is not None and holds else None,
    )
    _asked[cursor] = _Asked(step, opsets, graph)
    return graph


PREVIEW_FORM = Format(StepPreview, "passlens.what-if/1", "preview of the passes")
PREVIEW: Artifact[Question, StepPreview] = Artifact("what-if", make_preview, Value(PREVIEW_FORM))
"""Of a part of a question about a step of a run."""
