"""Initializers nobody reads."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.numbers import bytes_text
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


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
    return bool(value.uses()) or value.is_graph_output() or value.is_graph_input()
