"""Conversions that undo each other."""

from __future__ import annotations

from math import prod

import onnx_ir as ir

from optimizer.numbers import bytes_text
from optimizer.operators.layouts import LAYOUTS
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, producer_of, transposition


@register
class CancelConversions(Pass):
    """Cancel layout conversions.

    What it does:
        A conversion of a conversion to where the data came from is left out, whoever else reads
        what lies between them: TransData after TransDataBack, TransDataBack after TransData, and a
        Transpose after its inverse.
    Before:
        x → TransDataBack → TransData → Relu
    After:
        x → Relu
    When it is safe:
        Blocks are of the same length and hold as many channels, and the graph does not return
        them; permutations are inverse.
    Numerics:
        Bit-identical. What fills up the last block may be other numbers, which nobody reads.
    Source:
        The names of TransData and its formats: Huawei, Ascend C documentation.
    """

    id = "cancel-conversions"
    exactness = "exact"
    order = 60

    @rule(f"{LAYOUTS}::TransData", f"{LAYOUTS}::TransDataBack", name="BlocksAndBack", reach=1)
    def blocks(self, node: ir.Node, context: Context) -> Outcome:
        """A conversion between blocks and channels after its inverse."""
        value = node.inputs[0]
        above = None if value is None else value.producer()
        if above is None or above.domain != LAYOUTS or above.graph is not node.graph:
            return None
        if {above.op_type, node.op_type} != {"TransData", "TransDataBack"}:
            return None
        source, result = above.inputs[0], node.outputs[0]
        shape = context.symbolic.shape(source)
        if source is None or shape is None or shape != context.symbolic.shape(result):
            return None
        if node.op_type == "TransData" and result.is_graph_output():
            return Declined("the graph returns the blocks, with what fills them up", ())
        return _left_out(node, above, source, context)

    @rule("Transpose", name="TransposeAndBack", reach=1)
    def transposes(self, node: ir.Node, context: Context) -> Outcome:
        """A Transpose after its inverse."""
        above = producer_of(node.inputs[0], "Transpose")
        if above is None or above.graph is not node.graph or above.inputs[0] is None:
            return None
        first, second = transposition(above, context), transposition(node, context)
        if first is None or second is None or [first[i] for i in second] != sorted(first):
            return None
        return _left_out(node, above, above.inputs[0], context)


def _left_out(node: ir.Node, above: ir.Node, source: ir.Value, context: Context) -> Replacement:
    sizes, dtype = context.dims(source), source.dtype
    told = "The two conversions undo each other"
    if sizes is not None and dtype not in (None, ir.DataType.STRING):
        both = 1 if len(above.outputs[0].uses()) > 1 else 2
        moved = 2 * both * prod(sizes) * dtype.bitwidth // 8
        told += f": {bytes_text(moved)} less are moved"
    return Replacement([above, node], {node.outputs[0]: source}, f"{told}.")
