"""Gather of everything there is."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.node.agreement import Verdict, bypass
from optimizer.registry import Pass, register
from optimizer.rules import Context, Declined


@register
class EliminateNoopGather(Pass):
    """Remove Gather of all elements in order.

    What it does:
        A Gather whose indices name every element of an axis once, in order, goes away; so does
        one of the only element of an axis.
    Before:
        x:3×4 → Gather([0, 1, 2, 3], axis 1) → Relu
    After:
        x:3×4 → Relu
    When it is safe:
        The indices are a constant vector, and the size of the axis is known. One index that is no
        vector takes the axis away.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Gather, versions 1 to 13.
    """

    id = "eliminate-noop-gather"
    exactness = "exact"
    order = 20

    @bypass("Gather", name="FullGather", reach=2)
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """Indices that count up from the first to the last."""
        indices, shape = context.array(node.inputs[1]), context.symbolic.shape(source)
        axis = context.attribute(node, "axis")
        if indices is None or indices.ndim != 1 or not shape or not isinstance(axis, int):
            return None
        size = shape[axis]
        if not isinstance(size, int) or indices.size != size:
            return None
        found = np.where(indices < 0, indices + size, indices)
        if np.array_equal(found, np.arange(size)):
            return "The indices name every element in order."
        return Declined("the size stays the same, but the indices put elements elsewhere")
