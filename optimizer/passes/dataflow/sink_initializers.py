"""Weights that stand outside of the only body that reads them."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.numbers import bytes_text
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, NewInitializer, Outcome, Replacement


@register
class SinkInitializers(Pass):
    """Give a body the weights that only it reads.

    What it does:
        A weight of a product, convolution or recurrence in the body of an If, Loop or Scan is an
        initializer of that body. ONNX Runtime brings weights into the order that its kernels want
        when it opens a model, but only those that stand in the graph of their reader; the others
        it packs anew in every round.
    Before:
        w, n → Loop(body: h → MatMul(w))
    After:
        n → Loop(body: w, h → MatMul(w))
    When it is safe:
        No caller can override the weight, it is no graph output, and nothing outside the body reads
        it.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, initializers of a graph.
    """

    id = "sink-initializers"
    exactness = "exact"
    order = 35

    @rule(
        "Conv",
        "ConvTranspose",
        "GRU",
        "Gemm",
        "LSTM",
        "MatMul",
        "MatMulInteger",
        "QLinearConv",
        name="WeightOfBody",
    )
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Look at the weights of one node in a body."""
        body = node.graph
        if not isinstance(body, ir.Graph):
            return None
        around = [*context.scopes(body)][1:]
        for value in node.inputs:
            if value is None or value.graph not in around or not _is_weight(value, context):
                continue
            if all(_is_inside(reader, body, context) for reader, _ in value.uses()):
                data = value.const_value
                assert data is not None
                name = quoted(value.name or "")
                reason = f"Nothing outside the body reads {name} ({bytes_text(data.nbytes)})."
                made = NewInitializer(data, value.name or "weight")
                return Replacement([node], {value: made}, reason, drop=[value])
        return None


def _is_inside(node: ir.Node, body: ir.Graph, context: Context) -> bool:
    """Whether a node stands in a body, or in one that is in it."""
    return isinstance(node.graph, ir.Graph) and body in context.scopes(node.graph)


def _is_weight(value: ir.Value, context: Context) -> bool:
    """Whether a value is an initializer that may stand anywhere, and is more than a row."""
    rank = context.rank(value)
    return (
        value.is_initializer()
        and not value.is_graph_output()
        and context.is_constant(value)
        and rank is not None
        and rank > 1
    )
