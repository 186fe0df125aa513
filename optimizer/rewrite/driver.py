"""Drives the passes of a pipeline to a fixpoint and writes down every rewrite.

A round asks each pass in turn. A pass looks at all nodes once, afterwards only at the
neighbourhood of what changed since it last looked; it keeps going until none of its rules fires.
Rounds go on until no pass fires. Everything is deterministic: the order is the node list's.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.errors import Cancelled, PassError, StudioError
from optimizer.isolation import Progress
from optimizer.model.graph import Model, node_id, walk_nodes
from optimizer.model.limits import Limits
from optimizer.model.symbolic import SymbolicValues
from optimizer.numbers import counted
from optimizer.pipeline import Pipeline
from optimizer.registry import Rule
from optimizer.rewrite.application import Applied
from optimizer.rewrite.edits import ImportOpset, Retype, SetAttributes, SetInput
from optimizer.rewrite.queue import Queue, operator_of
from optimizer.rewrite.refusal import Refused
from optimizer.rewrite.rewriter import Rewriter
from optimizer.rewrite.touched import Touched
from optimizer.rewrite.trace import DeclinedMatch, Rewrite, Trace, VetoedMatch, match_id
from optimizer.rewrite.vetoes import Vetoes
from optimizer.rules.context import Context, FoldBudget
from optimizer.rules.replacement import Declined, Replacement
from optimizer.versions import versions

MAX_ROUNDS = 50
MAX_DERIVATIONS = 200
"""Nodes derived from one source node before we call it going round in circles."""

FEW_USES = 8
"""Consumers of a value up to which each looks again when another consumer comes or goes. That
matters to a rule only where few are left; a constant may have hundreds."""

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
) -> Trace:
    """Run a pipeline over a model, in place, and return the trace.

    Raises:
        StudioError: the model may not be optimized; nothing was changed.
        PassError: a pass raised; the trace up to there is lost, the graph half rewritten.
        Cancelled: asked to stop.
    """
    if not model.statuses.optimizable.ok:
        raise StudioError(f"The model cannot be optimized: {model.statuses.optimizable.reason}")
    with collection_paused():
        return _Run(model, pipeline, stop, limits, progress).run()


class _Run:
    """One run of a pipeline."""

    def __init__(
        self,
        model: Model,
        pipeline: Pipeline,
        stop: Stop,
        limits: Limits,
        progress: Progress | None,
    ) -> None:
        self.model, self.pipeline, self.stop, self.limits = model, pipeline, stop, limits
        self.progress = progress
        self.symbolic = SymbolicValues(model.ir)
        self.rewriter = Rewriter(model.ir, refine=self.symbolic.refine)
        self.vetoes = Vetoes(pipeline.vetoed, self.rewriter.position)
        self.context = Context(
            opsets=model.ir.graph.opset_imports,
            limits=limits,
            symbolic=self.symbolic,
            budget=FoldBudget(limits.fold_total_bytes, seconds=limits.fold_seconds),
            precedes=self.rewriter.precedes,
            scopes=self.rewriter.state.scopes,
        )
        self.queues = [Queue(planned) for planned in pipeline.passes]
        self.deepest = max((queue.reach for queue in self.queues), default=1)
        self.interested: dict[tuple[str, int], list[Queue]] = {}
        self.trace = Trace("", model.name, pipeline.to_json(), versions=versions())
        self.touched = Touched()
        self.declined: dict[tuple[str, str, str], DeclinedMatch] = {}
        self.order: dict[str, int] = {}
        self.started = time.monotonic()

    def run(self) -> Trace:
        """All rounds."""
        began = time.process_time()
        for node in walk_nodes(self.model.ir.graph):
            self.order[node_id(node)] = len(self.order)
            self._push(node, 1)
        if self.stop.limit is not None and self.stop.limit <= 0:
            self.trace.stopped = "Stopped at the limit of 0 rewrites."
        for number in range(1, MAX_ROUNDS + 1):
            before = self.trace.steps
            for queue in self.queues:
                self._run_pass(queue, number)
            if self.trace.steps == before or self.trace.stopped:
                break
        alive = self.rewriter.state.nodes
        self.trace.declined = [d for d in self.declined.values() if alive[d.root].graph is not None]
        self.trace.vetoed = self.vetoes.held
        self.trace.timings = {q.planned.id: q.timing for q in self.queues}
        self.trace.seconds = time.process_time() - began
        self.trace.state = self.rewriter.state
        return self.trace

    def _push(self, node: ir.Node, distance: int) -> None:
        """Have every pass look at a node that has rules for it and reaches that far."""
        operator = operator_of(node)
        queues = self.interested.get((operator, distance))
        if queues is None:
            queues = [q for q in self.queues if q.reach >= distance and q.rules_for(operator)]
            self.interested[operator, distance] = queues
        for queue in queues:
            queue.waiting[node] = None

    def _run_pass(self, queue: Queue, round_number: int) -> None:
        began = time.process_time()
        self.context.memory.clear()
        while queue.waiting and not self.trace.stopped:
            batch = [(self._key(n), node_id(n), n) for n in queue.waiting if n.graph is not None]
            queue.waiting.clear()
            heapq.heapify(batch)
            while batch and not self.trace.stopped:
                node = heapq.heappop(batch)[2]
                if node.graph is not None:
                    self._visit(queue, node, round_number)
        seconds = queue.timing.seconds + time.process_time() - began
        queue.timing = replace(queue.timing, seconds=seconds, tried=queue.tried)

    def _key(self, node: ir.Node) -> tuple[int, float]:
        """Document order: the source node's place, then the position in the list."""
        return self.order[node_id(node).partition("~")[0]], self.rewriter.position(node)

    def _visit(self, queue: Queue, node: ir.Node, round_number: int) -> None:
        for declared in queue.rules_for(operator_of(node)):
            began = time.perf_counter()
            queue.tried += 1
            try:
                outcome = declared.match(node, self.context)
            except StudioError:
                raise
            except Exception as error:
                step = self.trace.steps + 1
                message = f"Pass '{queue.planned.id}' failed at step {step}."
                raise PassError(message, pass_id=queue.planned.id, step=step) from error
            key = (queue.planned.id, declared.name, node_id(node))
            self.declined.pop(key, None)
            if isinstance(outcome, Declined):
                self._decline(key, outcome)
            elif isinstance(outcome, Replacement) and self._apply(
                queue, declared, node, outcome, (round_number, began)
            ):
                return

    def _decline(self, key: tuple[str, str, str], outcome: Declined) -> None:
        nodes = tuple(node_id(node) for node in outcome.nodes)
        self.declined[key] = DeclinedMatch(*key, nodes, outcome.reason)

    def _apply(
        self,
        queue: Queue,
        declared: Rule,
        node: ir.Node,
        outcome: Replacement,
        when: tuple[int, float],
    ) -> bool:
        """Carry the replacement out and note it; False when it is vetoed or refused."""
        matched = tuple(node_id(n) for n in outcome.matched)
        place = (queue.planned.id, declared.name, node_id(node), matched)
        identity = match_id(*place)
        if self.vetoes.hold(VetoedMatch(*place, identity, identity), outcome):
            queue.timing = replace(queue.timing, vetoed=queue.timing.vetoed + 1)
            return False
        try:
            applied = self.rewriter.apply(node, outcome)
        except Refused as refusal:
            key = (queue.planned.id, declared.name, node_id(node))
            self._decline(key, Declined(str(refusal)))
            return False
        step = self.trace.steps + 1
        self.trace.rewrites.append(
            Rewrite(
                step=step,
                round=when[0],
                pass_id=queue.planned.id,
                rule=declared.name,
                match=identity,
                root=node_id(node),
                matched=matched,
                values=applied.values,
                edits=tuple(applied.edits),
                reason=outcome.reason,
                seconds=time.perf_counter() - when[1],
                depends_on=self.touched.steps(matched),
            )
        )
        queue.timing = replace(queue.timing, rewrites=queue.timing.rewrites + 1)
        self._note(step, applied)
        self._wake(applied, node)
        self._check_bounds(step, node)
        return True

    def _note(self, step: int, applied: Applied) -> None:
        self.touched.note(step, applied.edits)
        for edit in applied.edits:
            if isinstance(edit, Retype):
                self.symbolic.forget(self.rewriter.state.values[edit.value])

    def _wake(self, applied: Applied, root: ir.Node) -> None:
        """Have every pass look again wherever the change may matter to it."""
        near: dict[ir.Node, None] = dict.fromkeys(applied.added)
        near[root] = None
        nodes, values = self.rewriter.state.nodes, self.rewriter.state.values
        for edit in applied.edits:
            if isinstance(edit, SetInput | SetAttributes):
                near[nodes[edit.node]] = None
            elif isinstance(edit, Retype):
                near.update(dict.fromkeys(use.node for use in values[edit.value].uses()))
            elif isinstance(edit, ImportOpset):  # the version may be what was in the way
                near.update((nodes[root], None) for _, _, root in self.declined)
        for value in applied.changed:
            producer = value.producer()
            if producer is not None and producer.graph is not None:
                self._push(producer, 1)  # it may care who reads its output
            uses = value.uses()
            if len(uses) <= FEW_USES:
                near.update(dict.fromkeys(use.node for use in uses))
        front = [node for node in near if node.graph is not None]
        for node in front:
            self._push(node, 1)
        self._wake_downstream(front)

    def _wake_downstream(self, front: list[ir.Node]) -> None:
        """Patterns reach upstream from their root, so roots further down must look again."""
        seen = set(front)
        for distance in range(2, self.deepest + 1):
            following: list[ir.Node] = []
            for node in front:
                for output in node.outputs:
                    for use in output.uses():
                        if use.node not in seen:
                            seen.add(use.node)
                            following.append(use.node)
            front = following
            for node in front:
                self._push(node, distance)

    def _check_bounds(self, step: int, node: ir.Node) -> None:
        if self.stop.limit is not None and step >= self.stop.limit:
            self.trace.stopped = f"Stopped at the limit of {counted(self.stop.limit, 'rewrite')}."
        elif step >= self.limits.rewrites:
            self.trace.stopped = (
                f"Stopped at {counted(self.limits.rewrites, 'rewrite')}, the limit."
            )
        elif self.rewriter.derivations(node) > MAX_DERIVATIONS:
            self.trace.stopped = _REPEATS.format(MAX_DERIVATIONS)
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
