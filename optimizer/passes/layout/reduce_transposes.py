"""Transposes over fewer axes."""

from __future__ import annotations

from math import prod

import onnx_ir as ir

from optimizer.dimension import TooComplex
from optimizer.folding.reshape_target import reshape_target
from optimizer.layout.transposes import reshaped_after, reshaped_before
from optimizer.layout.transposition import Transposition
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
)


@register
class ReduceTransposes(Pass):
    """Write Transpose over as few axes as it needs.

    What it does:
        Axes of size 1 are left out, and axes that stay neighbours in the same order become one, so
        that a Transpose of five axes becomes the one of two or three that it really is. A Reshape
        before and one after, which copy nothing, keep the shapes.
    Before:
        x[1, 16, 4, 112, 112] → Transpose(0, 3, 4, 1, 2) → y
    After:
        x → Reshape[64, 12544] → Transpose(1, 0) → Reshape[1, 112, 112, 16, 4] → y
    When it is safe:
        Always, where the shapes can be written as constants. A small tensor is left alone, because
        the Reshapes cost more than the shorter loop nest saves, unless it is reshaped before and
        after anyway: Merge Reshape chains then makes one of two.
    Numerics:
        Bit-identical: data is moved, never computed.
    Source:
        HPTT, Springer, Su and Bientinesi 2017, for merging axes; ONNX operator specification,
        Transpose.

    Attributes:
        least_bytes: a tensor with fewer is left alone, one of unknown size is not.
    """

    id = "reduce-transposes"
    exactness = "exact"

    least_bytes: int = 2_097_152

    @rule("Transpose", name="TransposeOfFewerAxes", reach=1)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Compare the axes that are written with those that are needed."""
        data, perm = node.inputs[0], node.attributes.get("perm")
        source = None if data is None else context.symbolic.shape(data)
        if data is None or source is None or context.is_constant(data) or context.opset() < 5:
            return None
        order = tuple(reversed(range(len(source)))) if perm is None else tuple(perm.as_ints())
        written = Transposition(source, order)
        try:
            reduced = written.reduced()
            nests = [_nest(one) for one in (written, reduced)]
        except TooComplex:
            return None
        if len(reduced.perm) == len(order) or not written.moves:
            return None
        size = _bytes(data, context)
        if size is not None and size < self.least_bytes and not _between_views(node):
            return Declined(f"the tensor is too small for it to pay: {size:,} bytes", ())
        shapes = _targets(written, reduced)
        if shapes is None:
            return Declined("the sizes are not known well enough to write the shapes", ())
        into, back = (NewInitializer.ints(shape, f"{data.name}_shape") for shape in shapes)
        flat = NewNode("Reshape", [data, into])
        moved = NewNode("Transpose", [flat.output()], {"perm": list(reduced.perm)})
        result = NewNode("Reshape", [moved.output(), back])
        reason = (
            f"Of {len(order)} axes {len(reduced.perm)} move on their own. Loops as written: "
            f"{nests[0]}; now: {nests[1]} (size/stride of what is read, in elements)."
        )
        return Replacement(
            [node], {node.outputs[0]: result.output()}, reason, nodes=[flat, moved, result]
        )


def _nest(moves: Transposition) -> str:
    return " × ".join(f"{loop.size}/{loop.read}" for loop in moves.loops)


def _targets(written: Transposition, reduced: Transposition) -> tuple[list[int], list[int]] | None:
    into = reshape_target(written.shape, reduced.shape)
    back = reshape_target(reduced.result, written.result)
    return None if into is None or back is None else (into, back)


def _between_views(node: ir.Node) -> bool:
    """Whether what stands before and after only reshapes, and could absorb another Reshape."""
    data = node.inputs[0]
    return data is not None and reshaped_before(data) and reshaped_after(node.outputs[0])


def _bytes(value: ir.Value, context: Context) -> int | None:
    sizes = context.dims(value)
    if sizes is None or value.dtype in (None, ir.DataType.STRING):
        return None
    return prod(sizes) * value.dtype.bitwidth // 8
