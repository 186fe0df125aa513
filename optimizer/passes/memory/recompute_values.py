"""Values that wait long for a late reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.errors import PlanError
from optimizer.memory.rematerialization import Copy, may_repeat, rematerialize
from optimizer.model.graph import bodies, node_id, walk_nodes
from optimizer.numbers import counted
from optimizer.passes.wording import described
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Operand, Outcome, Replacement


@dataclass(slots=True)
class _Chosen:
    """What runs again.

    Attributes:
        nodes: of the graph before any copy, by id.
        inputs: what they read then.
        before: for the id of a reader those that run again just before it, in their own order.
        readers: for the id of a node the readers before which it runs again, in their order.
        latest: values of `nodes`, and the copies that take their place from here on.
        asked: whose copies the rule asked for last.
        copies: ids of all copies that are there.
    """

    nodes: Mapping[str, ir.Node]
    inputs: Mapping[str, Sequence[ir.Value | None]]
    before: dict[str, list[ir.Node]] = field(default_factory=dict[str, list[ir.Node]])
    readers: dict[str, list[ir.Node]] = field(default_factory=dict[str, list[ir.Node]])
    latest: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])
    asked: Sequence[ir.Node] = ()
    copies: set[str] = field(default_factory=set[str])

    def settle(self, graph: ir.Graph) -> None:
        """Note which nodes came of what was asked for last; none if it was held back."""
        known = self.nodes.keys() | self.copies
        new = [node for node in graph if node_id(node) not in known] if self.asked else []
        for old, copy in zip(self.asked if new else (), new, strict=True):
            self.latest.update(zip(old.outputs, copy.outputs, strict=True))
            self.copies.add(node_id(copy))
        self.asked = ()


@register
class RecomputeValues(Pass):
    """Compute values again for late readers.

    What it does:
        Of what waits in memory while most is alive, some is dropped and computed a second time
        just before its late reader, if less is alive then. Node by node the choice with the largest
        drop for its extra operations is taken, as long as the largest moment gets smaller or rarer
        and the extra operations are at most `extra_percent` of all. With `copies` just these nodes
        run again. Free dimensions count as in the predicted cost.
    Before:
        x → Concat → ReduceMax, …, Concat → Mul
    After:
        x → Concat → ReduceMax, …, x → Concat → Mul
    When it is safe:
        A second run gives the same: nothing is drawn at random, and no body runs. All sizes are
        known. It runs once, when all other passes are done; sharing common subexpressions takes it
        back, in a later run as in ONNX Runtime.
    Numerics:
        Bit-identical.
    Source:
        Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost; the choice is greedy.
    """

    id = "recompute-values"
    exactness = "exact"

    extra_percent: float = 100.0
    copies: tuple[tuple[str, str], ...] = ()

    @rule(ANY, name="LateReader")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Look at one node of the main graph; what it and later ones read is computed before it."""
        graph = node.graph
        if not isinstance(graph, ir.Graph) or len(list(context.scopes(graph))) > 1:
            return None
        chosen = cast("_Chosen | None", context.memory.get("chosen"))
        if chosen is None:
            chosen = context.memory["chosen"] = _Chosen(
                {node_id(node): node for node in graph},
                {node_id(node): node.inputs for node in graph},
            )
            try:
                self._choose(graph, chosen)
            except PlanError as error:
                return Declined(error.message.rstrip("."))
        chosen.settle(graph)
        if node_id(node) in chosen.copies and not any(value.uses() for value in node.outputs):
            return Replacement([node], {}, "What read it runs later now, after another copy.")
        chosen.asked = chosen.before.pop(node_id(node), ())  # each is asked for once
        return _again(node, chosen, context) if chosen.asked else None

    def _choose(self, graph: ir.Graph, chosen: _Chosen) -> None:
        nodes = chosen.nodes
        place = {identity: index for index, identity in enumerate(nodes)}
        copies = self.copies or _found(graph, self.extra_percent / 100)
        for identity, reader in copies:
            missing = next((one for one in (identity, reader) if one not in nodes), None)
            if missing is not None:
                raise PlanError(f"There is no node {missing} in the main graph.")
            name = described(nodes[identity])
            if place[identity] >= place[reader]:
                raise PlanError(f"{name} cannot run again before {described(nodes[reader])}.")
            if not may_repeat(nodes[identity]):
                raise PlanError(f"{name} may give something else when it runs again.")
        before: dict[str, list[ir.Node]] = {}
        readers: dict[str, list[ir.Node]] = {}
        for identity, reader in sorted(
            set(map(tuple, copies)), key=lambda c: [place[i] for i in c]
        ):
            before.setdefault(reader, []).append(nodes[identity])
            readers.setdefault(identity, []).append(nodes[reader])
        chosen.before, chosen.readers = before, readers


def _found(graph: ir.Graph, most_extra: float) -> tuple[Copy, ...]:
    """The copies with which the least is alive at once."""
    sizes = Sizes.of(graph)
    for value in (*graph.inputs, *(v for node in walk_nodes(graph) for v in node.outputs)):
        sizes.shape(value)
    return rematerialize(graph, sizes=sizes.assumed, most_extra=most_extra)[-1].copies


def _again(reader: ir.Node, chosen: _Chosen, context: Context) -> Replacement:
    """Run nodes again before a reader; from it on until they run once more, the new are read."""
    new: dict[ir.Value, Operand] = {}
    made: list[NewNode] = []
    inputs: dict[tuple[ir.Node, int], Operand | None] = {}
    for node in chosen.asked:
        read = chosen.inputs[node_id(node)]
        operands = [None if v is None else new.get(v, chosen.latest.get(v, v)) for v in read]
        attributes, count = dict(node.attributes), len(node.outputs)
        copy = NewNode(node.op_type, operands, attributes, node.domain, count, twin=node)
        made.append(copy)
        readers = chosen.readers[node_id(node)]
        until = next(iter(readers[readers.index(reader) + 1 :]), None)
        for index, value in enumerate(node.outputs):
            new[value] = copy.output(index)
            for use in value.uses():
                if _follows(use.node, reader, context) and not (
                    until is not None and _follows(use.node, until, context)
                ):
                    inputs[use.node, use.idx] = new[value]
    *others, last = chosen.asked
    what = f"{described(last)} runs"
    if others:
        what = f"{described(last)} and {counted(len(others), 'node')} before it run"
    reason = f"{what} again here, so that the result need not wait for this reader."
    matched = [
        producer
        for node in chosen.asked
        if (producer := node if node.graph else chosen.latest[node.outputs[0]].producer())
    ]
    return Replacement(matched, {}, reason, made, inputs=inputs)


def _follows(node: ir.Node, reader: ir.Node, context: Context) -> bool:
    """Whether a node is a reader, in a body of it, or after it."""
    if node is reader or context.precedes(reader, node):
        return True
    return any(node is inner for body in bodies(reader) for inner in walk_nodes(body))
