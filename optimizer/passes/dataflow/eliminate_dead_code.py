"""Dead code."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.model.graph import bodies, is_used, use_count, walk_graphs, walk_nodes
from optimizer.numbers import counted
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement

MOST_NODES = 1000
"""Nodes that go in one step."""

DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "com.microsoft"})
"""Operator sets whose operators do nothing but compute their outputs."""


@register
class EliminateDeadCode(Pass):
    """Remove nodes nothing needs.

    What it does:
        A node of whose outputs no node, body or graph output makes use goes away, together with
        everything upstream that was only computed for it: a dead branch is one step.
    Before:
        x → Sin → Sin → (nobody), x → Relu → y
    After:
        x → Relu → y
    When it is safe:
        The operators belong to ONNX or ONNX Runtime, whose operators have no effect but their
        outputs. Operators of other domains stay: they may log or store something. Graph inputs
        stay, used or not.
    Numerics:
        Bit-identical.
    Source:
        Dead code elimination; Aho et al., Compilers, 9.1.6.
    """

    id = "eliminate-dead-code"
    exactness = "exact"
    order = 10

    @rule(ANY, name="DeadBranch")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Take a dead end and what leads only there."""
        if any(map(is_used, node.outputs)):
            return None
        foreign = _foreign(node)
        if foreign is not None:
            if not foreign.outputs:
                return None
            return Declined(f"Operators of the domain {foreign.domain} may have other effects")
        dead = _upstream(node)
        inside = {graph for n in dead for body in bodies(n) for graph in walk_graphs(body)}
        drop = [v for n in dead for v in _read(n) if v.is_initializer() and v.graph not in inside]
        reason = "Nothing uses the result"
        more = counted(len(dead) - 1, "more node only leads", "more nodes only lead")
        reason += "." if len(dead) == 1 else f"; {more} here."
        return Replacement([*reversed(dead)], {}, reason, drop=list(dict.fromkeys(drop)))


def _upstream(end: ir.Node) -> list[ir.Node]:
    """`end` and the nodes whose outputs nothing but these read, consumers first."""
    dead: dict[ir.Node, None] = {end: None}
    uses_left: dict[ir.Node, int] = {}
    pending = [end]
    while pending and len(dead) < MOST_NODES:
        for value in _read(pending.pop()):
            producer = value.producer()
            if producer is None or producer.graph is not end.graph:
                continue
            if producer not in uses_left:
                uses_left[producer] = sum(map(use_count, producer.outputs))
            uses_left[producer] -= 1
            if uses_left[producer] == 0 and producer not in dead and _may_go(producer):
                dead[producer] = None
                pending.append(producer)
    return list(dead)


def _may_go(node: ir.Node) -> bool:
    return not any(v.is_graph_output() for v in node.outputs) and _foreign(node) is None


def _foreign(node: ir.Node) -> ir.Node | None:
    """The node itself, or one in its bodies, that may do more than compute."""
    if node.domain not in DOMAINS:
        return node
    inner = (n for body in bodies(node) for n in walk_nodes(body))
    return next((n for n in inner if n.domain not in DOMAINS), None)


def _read(node: ir.Node) -> Iterator[ir.Value]:
    """The values a node and its bodies read, as often as they read them."""
    yield from (value for value in node.inputs if value is not None)
    for body in bodies(node):
        for inner in walk_nodes(body):
            yield from (value for value in inner.inputs if value is not None)
