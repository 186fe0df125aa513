"""Transposes that move nothing."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.passes.node.agreement import doubtful_axes, shape_of, unless_doubtful
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement


@register
class EliminateNoopTranspose(Pass):
    """Remove Transpose that moves nothing.

    What it does:
        A Transpose that leaves every element where it is goes away.
    Before:
        x → Transpose(perm = [0, 1, 2]) → Relu
    After:
        x → Relu
    When it is safe:
        The permutation is the identity; a missing one reverses the axes, so the rank is then 0 or
        1. Or only axes of size 1 change places and the shape certainly stays the same. Where the
        shape changes, a Reshape would be needed instead, and the Transpose stays.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Transpose.
    """

    id = "eliminate-noop-transpose"
    exactness = "exact"
    order = 20

    @rule("Transpose", name="IdentityTranspose")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None:
            return None
        order = _permutation(node, context)
        if order is None:
            return None
        if order == sorted(order):
            return Replacement([node], {output: source}, "The permutation is the identity.")
        if not _moves_only_ones(order, shape_of(source, context)):
            return None
        doubtful = doubtful_axes(source, output, context)
        if doubtful == []:
            reason = "Only axes of size 1 change places, and the shape stays the same."
            return Replacement([node], {output: source}, reason)
        if doubtful is None:
            return Declined(
                "only axes of size 1 move, but the shape changes: it is a Reshape, not a copy"
            )
        return unless_doubtful(node, doubtful, context, most=len(doubtful))


def _permutation(node: ir.Node, context: Context) -> list[int] | None:
    attribute = node.attributes.get("perm")
    if attribute is not None:
        return list(attribute.as_ints())
    shape = shape_of(node.inputs[0], context)
    return None if shape is None else list(reversed(range(len(shape))))


def _moves_only_ones(order: Sequence[int], shape: Sequence[Dimension] | None) -> bool:
    """Whether all axes but those of size 1 keep their order, so that no element moves."""
    if shape is None or len(shape) != len(order):
        return False
    moving = [axis for axis in order if shape[axis] != 1]
    return moving == sorted(moving)
