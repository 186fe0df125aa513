"""What if: what each pass would do to the graph at a step of a run, made by a worker when asked.

Who waits is told what can be said soon, and then what all passes say, which is an artifact. Passes
that look at a node and what is around it are soon done; those that look at the whole graph before
they answer mostly are not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from weakref import WeakKeyDictionary

import onnx_ir as ir

from optimizer.codec import Format
from optimizer.collection import collection_paused
from optimizer.isolation import Progress
from optimizer.model.graph import count_nodes
from optimizer.pipeline import Pipeline
from optimizer.registry import GraphPass, Pass, passes
from optimizer.rewrite.affected import affected
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.what_if import Answers, AskedGraph, Preview
from profiling.workers.forks import Beside, beside, forked_map, processes
from studio.artifacts.artifact import Artifact, Value

PASS_SECONDS = 0.1
"""CPU time of one pass; what it has found by then is told as "at least"."""
KNOW_SECONDS = 5.0
"""CPU time of finding out about values before anybody asks."""
SOON_SECONDS = 0.3
"""In which passes answer, where somebody waits."""
AHEAD_SECONDS = 0.1
"""CPU time, on each core, of what is done ahead at a time: who wants an answer waits for that."""
MOST_BESIDE = 20_000
"""Nodes of a source that is asked about beside its run, for which memory holds them once more."""
MOST_CHANGED = 0.2
"""Of the nodes of a graph; where more have changed, passes are asked about all of it."""
PLANNING = frozenset({"kernels", "memory"})
"""Families that plan the whole graph, seconds long: they are not asked by the way."""


@dataclass(frozen=True, slots=True)
class StepPreview:
    """What passes would do at a step.

    Attributes:
        step: of the run.
        passes: those that would act or come near, in running order.
        unasked: ids of those that there was no time to ask.
    """

    step: int
    passes: tuple[Preview, ...]
    unasked: tuple[str, ...] = ()


def asked_passes(pipeline: Pipeline) -> list[Pass]:
    """Every registered pass that can be asked, those of the pipeline with its options."""
    configured = {one.id: one for one in pipeline.passes}
    return [configured.get(one.id) or one() for one in passes() if can_be_asked(one)]


def can_be_asked(declared: type[Pass]) -> bool:
    """Whether a pass can say what it would do before it does it, and soon."""
    return declared.family not in PLANNING and not issubclass(declared, GraphPass)


Told = tuple[Preview, Answers | None, float]
"""What a pass says, in numbers and exactly, and the CPU time that this took."""


def asked_beside(model: ir.Model, pipeline: Pipeline) -> AbstractContextManager[Beside[Told]]:
    """Have a fork ask passes about the source, while this worker runs the pipeline over it.

    Args:
        model: the source, as the run will find it.
        pipeline: of the run.
    """
    source = lru_cache(lambda: _Asked.source(model, pipeline))
    local_first = sorted(asked_passes(pipeline), key=attrgetter("global_analysis"))
    few = count_nodes(model.graph) <= MOST_BESIDE
    return beside(lambda one: source().ask(one), local_first if few else ())


def keep_told(cursor: Cursor, told: Sequence[Told], run: Path) -> None:
    """Keep what passes said of the source beside its run.

    Args:
        cursor: of the run's trace, which finds there what passes need not be asked again.
        told: what they said.
        run: folder of the run, where it is an artifact if all have answered.
    """
    _told_beside[cursor] = told
    asked = asked_passes(Pipeline.from_json(cursor.trace.pipeline))
    preview = _step_preview(0, asked, {answer.pass_id: answer for answer, _, _ in told})
    if not preview.unasked:
        folder = run / PREVIEW.name(0)
        folder.mkdir()
        _PREVIEWS.write(folder, preview)


_told_beside = WeakKeyDictionary[Cursor, Sequence[Told]]()


def _step_preview(step: int, asked: Iterable[Pass], answers: Mapping[str, Preview]) -> StepPreview:
    """What has been said about a step by now."""
    found = [answers[one.id] for one in asked if one.id in answers]
    telling = tuple(one for one in found if one.matches or one.declined)
    return StepPreview(step, telling, tuple(one.id for one in asked if one.id not in answers))


@collection_paused()
def make_preview(files: TraceFiles, step: int, *, progress: Progress) -> StepPreview:
    """Ask the passes about the graph at a step; for a worker process.

    Raises:
        StudioError: as `graph_at`.
    """
    progress("asking the passes", 0.0)
    with trace_cursor(files) as cursor:
        asked = _asked_about(cursor, step)
        asked.answer(asked.left)
        return asked.told()


@collection_paused()
def ask_soon(files: TraceFiles, step: int) -> StepPreview:
    """As much of what `make_preview` says as can be said soon, more each time; for a worker.

    Raises:
        StudioError: as `graph_at`.
    """
    until = time.monotonic() + SOON_SECONDS
    with trace_cursor(files) as cursor:
        asked = _asked_about(cursor, step)
        asked.answer(asked.left, until)
        return asked.told()


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
"""Of an open trace what was asked about last: what is asked next needs the same facts."""


_seconds = dict[tuple[str, bool], float]()
"""What a pass took last, asked about all or only about what had changed."""


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

    @staticmethod
    def source(model: ir.Model, pipeline: Pipeline) -> _Asked:
        """The source of a run, about which nothing was asked."""
        graph = AskedGraph(model, pipeline, seconds=PASS_SECONDS)
        return _Asked(0, dict(model.graph.opset_imports), graph, asked_passes(pipeline), {})

    @property
    def left(self) -> list[Pass]:
        """Those that have not been asked, in running order."""
        return [one for one in self.passes if one.id not in self.answers]

    def told(self) -> StepPreview:
        """What has been said by now."""
        return _step_preview(self.step, self.passes, self.answers)

    def answer(self, several: Sequence[Pass], until: float = math.inf) -> None:
        """Have passes answer; several processes ask, for somebody waits.

        Args:
            several: none of which has been asked. Who takes long is asked first, so that all
                processes end together, but last where there may not be time for all.
            until: reading of the monotonic clock; who is expected to take longer is not asked,
                but for the first.
        """
        ordered = sorted(several, key=self._expected_seconds, reverse=math.isinf(until))

        def ask(one: Pass) -> Told | None:
            ends = time.monotonic() + self._expected_seconds(one)
            return self.ask(one) if one is ordered[0] or ends <= until else None

        self.remember(filter(None, forked_map(ask, ordered)))

    def ask(self, one: Pass) -> Told:
        """Have it say what it has to say."""
        begun = time.thread_time()
        answer, said = self.graph.preview(one, self.before.get(one.id))
        return answer, said, time.thread_time() - begun

    def _expected_seconds(self, one: Pass) -> float:
        """By what it took last; who looks at the whole graph and was never asked may take long."""
        unknown = math.inf if one.global_analysis else 0.0
        return _seconds.get(self._manner(one.id), unknown)

    def remember(self, answers: Iterable[Told]) -> None:
        """Keep what passes said."""
        for answer, said, seconds in answers:
            self.answers[answer.pass_id] = answer
            _seconds[self._manner(answer.pass_id)] = seconds
            if said is not None:
                self.said[answer.pass_id] = said

    def ask_some(self) -> bool:
        """Ask some of those that have not been, the local ones first; whether all have been."""
        left = sorted(self.left, key=attrgetter("global_analysis"))
        if known := self._within(left, AHEAD_SECONDS * processes()):
            self.answer(known)
            return len(known) == len(left)
        until = time.thread_time() + AHEAD_SECONDS
        for one in left:
            if time.thread_time() > until:
                return False
            self.remember([self.ask(one)])
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
    if known is None and step == 0:
        found.remember(_told_beside.pop(cursor, ()))
    return found


PREVIEW_FORM = Format(StepPreview, "passlens.what-if/2", "preview of the passes")
_PREVIEWS = Value(PREVIEW_FORM)
PREVIEW: Artifact[int, StepPreview] = Artifact("what-if", make_preview, _PREVIEWS)
"""Of a step of a run."""
