"""What if: what each pass would do to the graph at a step of a run, made by a worker when asked.

A question is asked in two parts, each an artifact of its own: passes that look at a node and what
is around it are soon done; those that look at the whole graph before they answer come after.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import attrgetter
from typing import Literal
from weakref import WeakKeyDictionary

from optimizer.codec import Format
from optimizer.collection import collection_paused
from optimizer.isolation import Progress
from optimizer.pipeline import Pipeline
from optimizer.registry import GraphPass, Pass, passes
from optimizer.rewrite.affected import affected
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.what_if import Answers, AskedGraph, Preview
from profiling.workers.forks import forked_map, processes
from studio.artifacts.artifact import Artifact, Value

PASS_SECONDS = 0.1
"""CPU time of one pass; what it has found by then is told as "at least"."""
KNOW_SECONDS = 5.0
"""CPU time of finding out about values before anybody asks."""
AHEAD_SECONDS = 0.25
"""CPU time, on each core, of what is done ahead at a time: who wants an answer waits for that."""
MOST_CHANGED = 0.2
"""Of the nodes of a graph; where more have changed, passes are asked about all of it."""
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
    """Every registered pass that can be asked, those of the pipeline with its options."""
    configured = {one.id: one for one in pipeline.passes}
    return [configured.get(one.id) or one() for one in passes() if can_be_asked(one)]


def can_be_asked(declared: type[Pass]) -> bool:
    """Whether a pass can say what it would do before it does it, and soon."""
    return declared.family not in PLANNING and not issubclass(declared, GraphPass)


@collection_paused()
def make_preview(files: TraceFiles, question: Question, *, progress: Progress) -> StepPreview:
    """Ask the passes of a part about the graph at a step; for a worker process.

    Raises:
        StudioError: as `graph_at`.
    """
    progress("asking the passes", 0.0)
    with trace_cursor(files) as cursor:
        asked = _asked_about(cursor, question.step)
        is_global = question.part == "global"
        found = asked.answer([one for one in asked.passes if one.global_analysis == is_global])
    return StepPreview(question.step, tuple(one for one in found if one.matches or one.declined))


@collection_paused()
def ask_some(files: TraceFiles, step: int | None) -> bool:
    """A little of what `make_preview` will have to find out about a step; for a worker process.

    First what is certain of the source's values, which holds at other steps, too; then what one
    pass after the other says, which is remembered until another step is asked about.

    Args:
        files: the trace, which is open from then on.
        step: which; None to find out about the values alone.

    Returns:
        Whether nothing is left.

    Raises:
        StudioError: as `graph_at`.
    """
    with trace_cursor(files) as cursor:
        source = _sources.setdefault(cursor, _Source())
        if not source.known:
            source.find_out(_asked_about(cursor, 0).graph)
            return source.known and step is None
        return step is None or _asked_about(cursor, step).ask_some()


_sources = WeakKeyDictionary[Cursor, "_Source"]()


@dataclass(slots=True)
class _Source:
    """How far the values of an open trace's source are known.

    Attributes:
        nodes: whose outputs are.
        seconds: of CPU time that this took.
        known: it is done: of all nodes, or the time for that is up.
    """

    nodes: int = 0
    seconds: float = 0.0
    known: bool = False

    def find_out(self, graph: AskedGraph) -> None:
        """Go on for a little."""
        begun = time.thread_time()
        spent = 0.0
        for _, node in graph.nodes[self.nodes :]:
            for value in node.outputs:
                graph.symbolic.fact(value)
            self.nodes += 1
            spent = time.thread_time() - begun
            if spent > AHEAD_SECONDS:
                break
        self.seconds += spent
        self.known = self.nodes == len(graph.nodes) or self.seconds > KNOW_SECONDS


_asked = WeakKeyDictionary[Cursor, "_Asked"]()
"""Of an open trace what was asked about last: its second part needs the same facts."""


_seconds = dict[tuple[str, bool], float]()
"""What a pass took last, asked about all or only about what had changed: who takes long is asked
first, so that all processes end together."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked about a step.

    Attributes:
        step: which.
        opsets: of its graph.
        graph: that of the step.
        passes: that can be asked.
        answers: of those that have been, by pass.
        said: what exactly their rules said, for the step that is asked about next.
        before: what they said of the step that was asked about before this one.
    """

    step: int
    opsets: Mapping[str, int]
    graph: AskedGraph
    passes: Sequence[Pass]
    before: Mapping[str, Answers]
    answers: dict[str, Preview] = field(default_factory=dict[str, Preview])
    said: dict[str, Answers] = field(default_factory=dict[str, Answers])

    def answer(self, several: Sequence[Pass]) -> list[Preview]:
        """What passes say, each asked once; several processes ask, for somebody waits."""
        left = [one for one in several if one.id not in self.answers]
        left.sort(key=lambda one: _seconds.get(self._manner(one.id), 0.0), reverse=True)
        self._remember(forked_map(self._ask, left))
        return [self.answers[one.id] for one in several]

    def _ask(self, one: Pass) -> tuple[Preview, Answers | None, float]:
        """What it says, in numbers and exactly, and the CPU time that this took."""
        begun = time.thread_time()
        answer, said = self.graph.preview(one, self.before.get(one.id))
        return answer, said, time.thread_time() - begun

    def _remember(self, answers: Iterable[tuple[Preview, Answers | None, float]]) -> None:
        for answer, said, seconds in answers:
            self.answers[answer.pass_id] = answer
            _seconds[self._manner(answer.pass_id)] = seconds
            if said is not None:
                self.said[answer.pass_id] = said

    def ask_some(self) -> bool:
        """Ask some of those that have not been, the local ones first; whether all have been."""
        left = [one for one in self.passes if one.id not in self.answers]
        left.sort(key=attrgetter("global_analysis"))
        if known := self._within(left, AHEAD_SECONDS * processes()):
            self.answer(known)
            return len(known) == len(left)
        until = time.thread_time() + AHEAD_SECONDS
        for one in left:
            if time.thread_time() > until:
                return False
            self._remember([self._ask(one)])
        return True

    def _within(self, several: Iterable[Pass], seconds: float) -> Sequence[Pass]:
        """As many as take no longer, by what they took last; at least one that was asked."""
        known = [one for one in several if self._manner(one.id) in _seconds]
        ends = accumulate(_seconds[self._manner(one.id)] for one in known)
        return known[: max(1, sum(end <= seconds for end in ends))]

    def _manner(self, pass_id: str) -> tuple[str, bool]:
        """A pass, and whether only what has changed is asked about."""
        return pass_id, pass_id in self.before


def _asked_about(cursor: Cursor, step: int) -> _Asked:
    """The graph at a step; there it is the same again, wherever the cursor has been meanwhile.

    What is known of values holds at other steps of the same operator sets, too, as it does in a
    run; where a pass gave precision away, a value is not what it was.
    """
    model = cursor.seek(step)
    known = _asked.get(cursor)
    if known is not None and known.step == step:
        return known
    opsets = dict(model.graph.opset_imports)
    pipeline = Pipeline.from_json(cursor.trace.pipeline)
    asked = asked_passes(pipeline)
    changes = None
    if known is not None and known.opsets == opsets and cursor.trace.exactness != "lossy":
        deepest = max(one.reach for one in asked)
        changes = affected(cursor.state, cursor.edits_between(known.step, step), deepest)
    graph = AskedGraph(
        model,
        pipeline,
        seconds=PASS_SECONDS,
        symbolic=None if changes is None or known is None else known.graph.symbolic,
        affected=changes,
    )
    few = changes is not None and len(changes) <= len(graph.nodes) * MOST_CHANGED
    before = known.said if known is not None and few else {}
    found = _asked[cursor] = _Asked(step, opsets, graph, asked, before)
    return found


PREVIEW_FORM = Format(StepPreview, "passlens.what-if/1", "preview of the passes")
PREVIEW: Artifact[Question, StepPreview] = Artifact("what-if", make_preview, Value(PREVIEW_FORM))
"""Of a part of a question about a step of a run."""
