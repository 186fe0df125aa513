"""Why not: which passes looked at a node, in which round, and what each of them said.

A reader of the trace. A trace keeps what fired and the near misses that stood at the end; that a
pass looked at a node and found nothing like its patterns follows from the order of the passes: each
of them looks at every node it has rules for, from the moment the node is there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from optimizer.errors import TraceError
from optimizer.pipeline import Pipeline
from optimizer.registry import ANY, Pass, passes
from optimizer.rewrite.edits import SetAttributes
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.provenance import Fate, Provenance, Succession, successions
from optimizer.rewrite.trace import Rewrite, Trace
from optimizer.rules import operator_of

Verdict = Literal["made", "fired", "declined", "refused", "vetoed", "failed", "no match"]


@dataclass(frozen=True, slots=True)
class Look:
    """What one rule, or a whole pass, said of a node.

    Attributes:
        pass_id: the pass.
        rule: the rule inside the pass; "" where none of its rules found a match.
        verdict: `made` or `fired`, a step put the node in or matched it; `declined`, a near match;
            `refused`, a match that would have broken the graph; `vetoed` by the pipeline; `failed`,
            the rule raised an error; `no match`.
        round: in which it was said; None where the trace does not tell.
        step: of what fired, or would have been.
        root: id of the node that the rule was asked about: this one or another.
        nodes: ids of the other nodes that it is about.
        reason: why, in words; "" where there is nothing to say.
        unlock: what a user can do about it, where the rule knows.
        became: what became of the node by this step; None where it stayed.
    """

    pass_id: str
    rule: str
    verdict: Verdict
    round: int | None
    step: int | None = None
    root: str = ""
    nodes: tuple[str, ...] = ()
    reason: str = ""
    unlock: str = ""
    became: Succession | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """All that a run said of one node.

    Attributes:
        node: its id.
        operator: its operator, with the domain where that is not ONNX's own.
        fate: what became of it by the end.
        origins: ids of the source nodes whose work it does; itself if it is one.
        looks: what the passes said, in order.
        known: ids of registered passes with a rule for this operator by name.
        off: those of them that were not part of the run.
        stopped: why the run ended before all had looked at everything; "" where it did not.
    """

    node: str
    operator: str
    fate: Fate
    origins: tuple[str, ...]
    looks: tuple[Look, ...]
    known: tuple[str, ...]
    off: tuple[str, ...]
    stopped: str = ""


def why(trace: Trace, node: str) -> Why:
    """What the passes of a run said of the node with this id.

    Raises:
        TraceError: the trace has no live graph, or no such node.
    """
    if trace.state is None:
        raise TraceError("The trace has no live graph; open its file instead.")
    if node not in trace.state.nodes:
        raise TraceError(f"The trace has no node {node}.")
    return _Question(trace, trace.state, node).answer()


class _Question:
    """One node, asked about."""

    def __init__(self, trace: Trace, state: GraphState, node: str) -> None:
        self.trace, self.node = trace, node
        self.operator = operator_of(state.nodes[node])
        self.pipeline = Pipeline.from_json(trace.pipeline)
        self.place = {one.id: index for index, one in enumerate(self.pipeline.passes)}
        self.late = {one.id for one in self.pipeline.passes if one.last}

    def answer(self) -> Why:
        """All looks in order, and what became of the node."""
        told = [*self._steps(), *self._near_misses()]
        named = {look.pass_id for look in told if look.verdict != "made"}
        told += self._silent(named)
        order = sorted(told, key=lambda look: (look.round or 0, self.place[look.pass_id]))
        provenance = Provenance(self.trace)
        known = [one.id for one in passes() if self.operator in _roots(one())]
        return Why(
            node=self.node,
            operator=self.operator,
            fate=provenance.fate(self.node),
            origins=provenance.origins(self.node),
            looks=tuple(order),
            known=tuple(known),
            off=tuple(identity for identity in known if identity not in self.place),
            stopped=self.trace.stopped,
        )

    def _steps(self) -> Iterator[Look]:
        """The step that made the node, and those that matched, changed or removed it."""
        for rewrite in self.trace.rewrites:
            made, node = self.node in rewrite.added, self.node
            if not made and node not in (*rewrite.matched, *rewrite.removed, *_changed(rewrite)):
                continue
            yield Look(
                rewrite.pass_id,
                rewrite.rule,
                "made" if made else "fired",
                rewrite.round,
                rewrite.step,
                rewrite.root,
                self._others(rewrite.matched),
                rewrite.reason,
                became=next((s for s in successions(rewrite) if node in s.nodes), None),
            )

    def _near_misses(self) -> Iterator[Look]:
        """What was declined, refused, vetoed or failed, here or with this node in it."""
        node, trace = self.node, self.trace
        for d in trace.declined:
            if node in (d.root, *d.nodes):
                yield Look(
                    d.pass_id,
                    d.rule,
                    "refused" if d.refused else "declined",
                    d.round or None,
                    root=d.root,
                    nodes=self._others(d.nodes),
                    reason=d.reason,
                    unlock=d.unlock,
                )
        for v in trace.vetoed:
            if node in (v.root, *v.matched):
                others = self._others(v.matched)
                yield Look(v.pass_id, v.rule, "vetoed", None, root=v.root, nodes=others)
        for f in trace.failed:
            if node in (f.root, *f.matched):
                others = self._others(f.matched)
                yield Look(f.pass_id, f.rule, "failed", None, f.step, f.root, others, f.error)

    def _silent(self, named: set[str]) -> Iterator[Look]:
        """Passes that looked at the node while it was there and had nothing to say."""
        since, until = self._lifetime()
        failed = {(failure.pass_id, failure.rule) for failure in self.trace.failed}
        for one in self.pipeline.passes:
            roots = {
                root
                for rule in one.rules()
                if (one.id, rule.name) not in failed
                for root in rule.roots
            }
            asked = self.node in self.pipeline.places.get(one.id, (self.node,))
            first = self._first_look(one.id, since)
            if one.id in named or not asked or not roots & {ANY, self.operator} or first is None:
                continue
            if first < until:
                yield Look(one.id, "", "no match", self._round(first[0]), root=self.node)

    def _lifetime(self) -> tuple[tuple[float, int], tuple[float, int]]:
        """When the node came and when it, or the run, ended: a round and a place in the order."""
        since, until = (1.0, -1), (math.inf, len(self.place))
        if self.trace.stopped:
            until = self._when(self.trace.rewrites[-1]) if self.trace.rewrites else (0.0, 0)
        for rewrite in self.trace.rewrites:
            if self.node in rewrite.added:
                since = self._when(rewrite)
            if self.node in rewrite.removed:
                until = self._when(rewrite)
        return since, until

    def _when(self, rewrite: Rewrite) -> tuple[float, int]:
        late = rewrite.pass_id in self.late
        return (math.inf if late else rewrite.round, self.place[rewrite.pass_id])

    def _first_look(self, pass_id: str, since: tuple[float, int]) -> tuple[float, int] | None:
        """When a pass looked at the node first; None where its turn was over by then."""
        place = self.place[pass_id]
        if pass_id in self.late:
            return (math.inf, place) if (math.inf, place) >= since else None
        return None if since[0] == math.inf else (since[0] + (place < since[1]), place)

    def _round(self, number: float) -> int:
        """A round as the trace counts: those that come last run in the last one."""
        early = [r.round for r in self.trace.rewrites if r.pass_id not in self.late]
        return int(number) if number != math.inf else max(early, default=0) + 1

    def _others(self, nodes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node for node in nodes if node != self.node))


def _changed(rewrite: Rewrite) -> list[str]:
    return [edit.node for edit in rewrite.edits if isinstance(edit, SetAttributes)]


def _roots(one: Pass) -> set[str]:
    return {root for rule in one.rules() for root in rule.roots}
