"""Initializers with the same contents, and those that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import onnx_ir as ir

from optimizer.constants import equal_groups
from optimizer.errors import quoted
from optimizer.model.graph import is_used
from optimizer.numbers import bytes_text
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement

_Keepers = dict[ir.Value, ir.Value]


@register
class MergeDuplicateInitializers(Pass):
    """Store equal weights once.

    What it does:
        Of initializers with the same element type, shape and bits, the first serves the consumers
        of all. One in a body gives way to an equal one outside.
    Before:
        x → MatMul(w1) , y → MatMul(w2), w1 = w2
    After:
        x → MatMul(w1) , y → MatMul(w1)
    When it is safe:
        No caller can override either: neither is a graph input. Neither is a graph output.
    Numerics:
        Bit-identical; every bit is compared, the sign of zeros and the payload of NaNs included.
    Source:
        Hash consing of constants; ONNX operator specification, initializers.
    """

    id = "merge-duplicate-initializers"
    exactness = "exact"
    order = 30

    @rule(ANY, name="DuplicateInitializer")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace one initializer the node reads by an earlier equal one, everywhere."""
        for value in node.inputs:
            if value is None or not value.is_initializer() or not isinstance(value.graph, ir.Graph):
                continue
            keeper = _keepers(value.graph, context).get(value)
            if keeper is None:
                continue
            size = bytes_text(value.const_value.nbytes if value.const_value is not None else 0)
            reason = (
                f"{quoted(value.name or '')} holds the same {size} as {quoted(keeper.name or '')}."
            )
            return Replacement([node], {value: keeper}, reason, drop=[value])
        return None


def _keepers(graph: ir.Graph, context: Context) -> _Keepers:
    """For each duplicate of this graph, the initializer to use instead; computed once a round."""
    known = context.memory.get(graph)
    if known is None:
        known = context.memory[graph] = _find(graph, context)
    return cast(_Keepers, known)


def _find(graph: ir.Graph, context: Context) -> _Keepers:
    if not graph.initializers:
        return {}
    outermost_first = [*context.scopes(graph)][::-1]
    candidates = {
        value: value.const_value
        for scope in outermost_first
        for value in _mergeable(scope)
        if value.const_value is not None
    }
    keepers: _Keepers = {}
    for first, *rest in equal_groups(candidates):
        keepers.update({value: first for value in rest if value.graph is graph})
    return keepers


def _mergeable(graph: ir.Graph) -> Iterator[ir.Value]:
    for value in graph.initializers.values():
        if value.const_value is None or value.is_graph_input() or value.is_graph_output():
            continue
        if value.const_value.dtype != ir.DataType.STRING:
            yield value


@register
class RemoveUnusedInitializers(Pass):
    """Remove weights nobody reads.

    What it does:
        Initializers that no node, body or graph output uses are dropped, all of a graph in one
        step. What a rewrite leaves unused goes with that rewrite; this is for what the file
        brought along.
    Before:
        x → Relu → y, and an initializer w
    After:
        x → Relu → y
    When it is safe:
        The initializer is not also a graph input: the interface stays as it is.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, initializers.
    """

    id = "remove-unused-initializers"
    exactness = "exact"
    order = 40

    @rule(ANY, name="UnusedInitializers")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """At the first node asked about in a graph, look at the graph's initializers."""
        graph = node.graph
        if not isinstance(graph, ir.Graph) or graph in context.memory:
            return None
        context.memory[graph] = True
        unused = [v for v in graph.initializers.values() if not _needed(v)]
        if not unused:
            return None
        size = bytes_text(sum(v.const_value.nbytes for v in unused if v.const_value is not None))
        more = f" and {len(unused) - 1} more" if len(unused) > 1 else ""
        reason = f"Nothing reads {quoted(unused[0].name or '')}{more} ({size})."
        return Replacement([], {}, reason, drop=unused)


def _needed(value: ir.Value) -> bool:
    return is_used(value) or value.is_graph_input()
