"""Drives the passes of a pipeline to a fixpoint and writes down every rewrite.

A round asks each pass in turn. A pass looks at all nodes once, afterwards only at the
neighbourhood of what changed since it last looked; it keeps going until none of its rules fires.
Rounds go on until no pass fires; those that come last run once after that. Everything is
deterministic: the order is the node list's. A pass over the whole graph is asked in the first round
only: it has a fixpoint of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.errors import Cancelled, StudioError, ToolError
from optimizer.isolation import Isolate, Progress
from optimizer.limits import Limits
from optimizer.model.graph import Model, node_id
from optimizer.model.known_values import take
from optimizer.numbers import counted
from optimizer.pipeline import Pipeline
from optimizer.registry import Change, GraphPass, Rule
from optimizer.rewrite.applied import Applied
from optimizer.rewrite.edits import Retype
from optimizer.rewrite.failures import told
from optimizer.rewrite.refusal import Refused
from optimizer.rewrite.rewriter import Rewriter
from optimizer.rewrite.taken_apart import TakenApart
from optimizer.rewrite.touched import Touched
from optimizer.rewrite.trace import (
    DeclinedMatch,
    FailedMatch,
    Inferred,
    InferredPlace,
    Rewrite,
    Trace,
    VetoedMatch,
    match_id,
)
from optimizer.rewrite.vetoes import Vetoes
from optimizer.rewrite.worklist import Queue, Worklist
from optimizer.rules.context import Context, FoldBudget
from optimizer.rules.replacement import Declined, Outcome, Replacement

MAX_ROUNDS = 50
MAX_REPEATS = 64
"""Rewrites that add nodes and are rooted at one node, or each at what the one before added, until
we call it going round in circles. One may add what it likes, such as a recurrent layer's steps."""

_REPEATS = "Rules undid each other; stopped after {} rewrites at one place."


@dataclass(frozen=True, slots=True)
class Stop:
    """When to end a run before its fixpoint.

    Attributes:
        limit: number of rewrites after which to stop; None for no limit.
        cancelled: asked now and then.
    """

    limit: int | None = None
    cancelled: Callable[[], bool] | None = None


def optimize(
    model: Model,
    pipeline: Pipeline,
    *,
    stop: Stop = Stop(),
    limits: Limits = Limits(),
    progress: Progress | None = None,
    isolate: Isolate | None = None,
) -> Trace:
    """Run a pipeline over a model, in place, and return the trace.

    A pass that is another tool runs it through `isolate`; without one it declines. A rule that
    raises is written down in the trace, what it had changed is undone, and it is asked no more.

    Raises:
        StudioError: the model may not be optimized; nothing was changed.
        Cancelled: asked to stop.
    """
    if not model.statuses.optimizable.ok:
        raise StudioError(f"The model cannot be optimized: {model.statuses.optimizable.reason}")
    with collection_paused():
        return _Run(model, pipeline, stop, limits, progress, isolate).run()


class _Run:
    """One run of a pipeline."""

    def __init__(
        self,
        model: Model,
        pipeline: Pipeline,
        stop: Stop,
        limits: Limits,
        progress: Progress | None,
        isolate: Isolate | None,
    ) -> None:
        self.began = time.process_time()
        self.model, self.pipeline, self.stop, self.limits = model, pipeline, stop, limits
        self.progress = progress
        self.symbolic = take(model.ir)
        self.rewriter = Rewriter(model.ir, symbolic=self.symbolic)
        self.vetoes = Vetoes(pipeline.vetoed, self.rewriter.position)
        self.context = Context(
            opsets=model.ir.graph.opset_imports,
            limits=limits,
            symbolic=self.symbolic,
            budget=FoldBudget(limits.fold_total_bytes, seconds=limits.fold_seconds),
            precedes=self.rewriter.precedes,
            position=self.rewriter.position,
            scopes=self.rewriter.state.scopes,
            isolate=isolate,
            functions=model.ir.functions,
        )
        self.worklist = Worklist(pipeline.passes, self.rewriter)
        self.taken_apart = TakenApart(pipeline)
        self.trace = Trace("", model.name, pipeline.to_json())
        self.touched = Touched()
        self.rooted = Counter[str]()
        self.declined: dict[tuple[str, str, str], DeclinedMatch] = {}
        self.whole: set[tuple[str, str, str]] = set()
        self.round = 0
        self.started = time.monotonic()

    def run(self) -> Trace:
        """All rounds."""
        if self.stop.limit is not None and self.stop.limit <= 0:
            self.trace.stopped = "Stopped at the limit of 0 rewrites."
        for self.round in range(1, MAX_ROUNDS + 1):
            before = self.trace.steps
            for queue in self.worklist.queues:
                if not queue.planned.last:
                    self._run_pass(queue)
            if self.trace.steps == before or self.trace.stopped:
                break
        for queue in self.worklist.queues:
            if queue.planned.last:
                self._run_pass(queue)
        alive = self.rewriter.state.nodes
        self.trace.declined = [
            one
            for key, one in self.declined.items()
            if key in self.whole or alive[one.root].graph is not None
        ]
        self.trace.vetoed = self.vetoes.held
        near = Counter[str]()
        for declined in self.trace.declined:
            near[declined.pass_id] += 1
        self.trace.timings = {
            queue.planned.id: queue.timing(declined=near[queue.planned.id])
            for queue in self.worklist.queues
        }
        self.trace.seconds = time.process_time() - self.began
        self.trace.state = self.rewriter.state
        return self.trace

    def _run_pass(self, queue: Queue) -> None:
        if not self.worklist.has_work(queue):
            return
        began = time.process_time()
        self.context.forget()
        if isinstance(queue.planned, GraphPass):
            self._run_whole(queue, queue.planned)
        else:
            places = self.pipeline.places.get(queue.planned.id)
            for node, rules in self.worklist.nodes(queue):
                if self.trace.stopped:
                    break
                if places is None or node_id(node) in places:
                    self._visit(queue, node, rules)
        queue.seconds += time.process_time() - began

    def _run_whole(self, queue: Queue, planned: GraphPass) -> None:
        """All that a pass over the whole graph wants; rooted at the first node unless it says."""
        graph = self.model.ir.graph
        changes = planned.changes(self.model.ir, self.context) if self.round == 1 else iter(())
        while len(graph) and not self.trace.stopped:
            began, root, change = time.perf_counter(), graph[0], None
            queue.tried += 1
            try:
                change = next(changes, None)
                if change is None:
                    return
                if change.root is None:
                    self.whole.add((queue.planned.id, change.rule, node_id(root)))
                root = change.root or root
                if isinstance(change.outcome, ToolError):
                    raise change.outcome
                applied = self._attempt(queue, change.rule, root, change.outcome)
            except Exception as error:  # a bug of the pass ends nothing, either
                if isinstance(error, StudioError) and not isinstance(error, ToolError):
                    raise
                self._fail_whole(queue, change, root, told(error, planned.changes))
                continue
            if applied is not None and isinstance(change.outcome, Replacement):
                self._note(queue, change.rule, root, change.outcome, applied, began)
                if change.settle is not None:
                    alive = self.rewriter.state.nodes
                    change.settle({new: alive[key] for new, key in applied.identities.items()})

    def _fail_whole(self, queue: Queue, change: Change | None, root: ir.Node, error: str) -> None:
        name = "WholeGraph" if change is None else change.rule
        outcome = (
            None if change is None or isinstance(change.outcome, ToolError) else change.outcome
        )
        self._fail(queue, name, root, outcome, error)

    def _visit(self, queue: Queue, node: ir.Node, rules: list[Rule]) -> None:
        for declared in [*rules]:  # one that raises is dropped from them
            began = time.perf_counter()
            queue.tried += 1
            outcome: Outcome = None
            try:
                outcome = declared.match(queue.planned, node, self.context)
                if outcome is None and not queue.has_near_misses:
                    continue  # as nearly always: there is nothing to write down or to strike out
                applied = self._attempt(queue, declared.name, node, outcome)
            except StudioError:
                raise
            except Exception as error:  # a rule is somebody's code: its bug must not end the run
                self._fail(queue, declared.name, node, outcome, told(error, declared.match))
                queue.drop(declared)
                continue
            if applied is not None and isinstance(outcome, Replacement):
                self._note(queue, declared.name, node, outcome, applied, began)
                return

    def _attempt(self, queue: Queue, rule: str, node: ir.Node, outcome: Outcome) -> Applied | None:
        """Carry a replacement out; None when it is none, vetoed or refused."""
        key = (queue.planned.id, rule, node_id(node))
        self.declined.pop(key, None)
        if outcome is None:
            return None
        if isinstance(outcome, Declined):
            self._decline(queue, key, outcome)
        if not isinstance(outcome, Replacement):
            return None
        if self.pipeline.vetoed and self._is_vetoed(key, outcome):
            queue.vetoed += 1
            return None
        if problem := self.taken_apart.problem(queue.planned, outcome, self.context.opset()):
            self._decline(queue, key, Declined(problem))
            return None
        try:
            return self.rewriter.apply(node, outcome)
        except Refused as refusal:
            self._decline(queue, key, Declined(str(refusal)), refused=True)
            return None

    def _is_vetoed(self, key: tuple[str, str, str], outcome: Replacement) -> bool:
        matched = _ids(outcome)
        identity = match_id(*key, matched)
        return self.vetoes.hold(VetoedMatch(*key, matched, identity, identity), outcome)

    def _fail(self, queue: Queue, rule: str, node: ir.Node, outcome: Outcome, error: str) -> None:
        """Write down that a rule raised; what it had changed is undone already."""
        matched: tuple[str, ...] = ()
        with suppress(Exception):  # what it answered may be no match at all
            matched = _ids(outcome) if isinstance(outcome, Replacement) else ()
        of_rule = (queue.planned.id, rule)
        step = self.trace.steps + 1
        self.trace.failed.append(FailedMatch(*of_rule, node_id(node), matched, step, error))
        for key in [key for key in self.declined if key[:2] == of_rule]:
            del self.declined[key]  # nobody asks any more whether they still stand
        for value in self.rewriter.state.values.values():
            self.symbolic.forget(value)  # it may have been derived from what is undone
        self.context.forget()

    def _decline(
        self,
        queue: Queue,
        key: tuple[str, str, str],
        outcome: Declined,
        *,
        refused: bool = False,
    ) -> None:
        queue.has_near_misses = True
        nodes = tuple(node_id(node) for node in outcome.nodes)
        self.declined[key] = DeclinedMatch(
            *key, nodes, outcome.reason, self.round, refused, outcome.unlock
        )

    def _note(
        self,
        queue: Queue,
        rule: str,
        node: ir.Node,
        outcome: Replacement,
        applied: Applied,
        began: float,
    ) -> None:
        """Write the rewrite down, and have the passes look at what it changed."""
        step = self.trace.steps + 1
        matched = _ids(outcome)
        rewired = (node_id(reader) for reader, _ in outcome.inputs)
        place = (queue.planned.id, rule, node_id(node), matched)
        self.trace.rewrites.append(
            Rewrite(
                step=step,
                round=self.round,
                pass_id=queue.planned.id,
                rule=rule,
                match=match_id(*place),
                root=node_id(node),
                matched=matched,
                values=applied.values,
                edits=tuple(applied.edits),
                reason=outcome.reason,
                seconds=time.perf_counter() - began,
                depends_on=self.touched.steps(dict.fromkeys((*matched, *rewired))),
                inferred=_inferred(outcome, applied),
            )
        )
        queue.rewrites += 1
        self.touched.note(step, applied.edits)
        self.rooted[node_id(node)] += bool(applied.added)
        for edit in applied.edits:
            if isinstance(edit, Retype):
                self.symbolic.forget(self.rewriter.state.values[edit.value])
        self.worklist.wake(applied, node, (root for _, _, root in self.declined))
        self._check_bounds(step, node)

    def _check_bounds(self, step: int, node: ir.Node) -> None:
        if self.stop.limit is not None and step >= self.stop.limit:
            self.trace.stopped = f"Stopped at the limit of {counted(self.stop.limit, 'rewrite')}."
        elif step >= self.limits.rewrites:
            self.trace.stopped = (
                f"Stopped at {counted(self.limits.rewrites, 'rewrite')}, the limit."
            )
        elif max(self.rooted[node_id(node)], self.rewriter.generation(node)) > MAX_REPEATS:
            self.trace.stopped = _REPEATS.format(MAX_REPEATS)
        elif step % 64 == 0:
            self._look_up(step)

    def _look_up(self, step: int) -> None:
        """Now and then: is it still wanted, is there time left, tell how far."""
        if self.stop.cancelled is not None and self.stop.cancelled():
            raise Cancelled("Optimizing was cancelled.")
        seconds = time.monotonic() - self.started
        if seconds > self.limits.optimize_seconds:
            self.trace.stopped = f"Stopped after {self.limits.optimize_seconds:.0f} s, the limit."
        if self.progress is not None:
            self.progress(counted(step, "rewrite"), 0.0)


def _ids(replacement: Replacement) -> tuple[str, ...]:
    return tuple(node_id(node) for node in replacement.wholly_matched())


def _inferred(outcome: Replacement, applied: Applied) -> Inferred | None:
    """What a foreign tool's step says of its provenance, by ids."""
    if outcome.inferred is None:
        return None
    places = (
        InferredPlace(
            tuple(map(node_id, place.sources)),
            tuple(applied.identities[node] for node in place.nodes),
        )
        for place in outcome.inferred.places
    )
    return Inferred(outcome.inferred.confidence, tuple(places))
