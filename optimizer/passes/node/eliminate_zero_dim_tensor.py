"""Tensors without elements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.model.graph import bodies, is_used
from optimizer.passes.node.agreement import normalized, shown
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
)

_STORABLE = frozenset(
    {
        *(ir.DataType.BOOL, ir.DataType.FLOAT, ir.DataType.DOUBLE),
        *(ir.DataType.FLOAT16, ir.DataType.BFLOAT16),
        *(ir.DataType.INT8, ir.DataType.INT16, ir.DataType.INT32, ir.DataType.INT64),
        *(ir.DataType.UINT8, ir.DataType.UINT16, ir.DataType.UINT32, ir.DataType.UINT64),
    }
)


@register
class EliminateZeroDimTensor(Pass):
    """Remove work on tensors without elements.

    What it does:
        Operands that add nothing to a Concat are dropped from it, and a node all of whose outputs
        are without elements becomes empty constants.
    Before:
        Concat(x:2×3, empty:0×3, axis 0) → Relu
    After:
        x → Relu
    When it is safe:
        For a Concat: the operand has the size 0 along the axis. For a node: it is one of ONNX's
        own operators, deterministic and without bodies, and every output that is used has a type
        and a shape known to the last number, one of them 0. An empty input is not enough:
        ReduceSum over an empty axis has a non-empty output, zeros.
    Numerics:
        Bit-identical: there is no number to differ.
    Source:
        ONNX operator specification, Concat; XLA, ZeroSizedHloElimination; OpenVINO,
        RemoveConcatZeroDimInput.
    """

    id = "eliminate-zero-dim-tensor"
    exactness = "exact"
    order = 15

    @rule("Concat", name="EmptyOperand")
    def concat(self, node: ir.Node, context: Context) -> Outcome:
        """Concatenate the other operands only."""
        shape, axis = context.symbolic.shape(node.outputs[0]), context.attribute(node, "axis")
        if shape is None or not isinstance(axis, int) or len(node.inputs) < 2:
            return None
        (axis,) = normalized([axis], len(shape))
        kept = [v for v in node.inputs if not _empty_along(v, axis, context)]
        if len(kept) == len(node.inputs):
            return None
        kept = kept or [node.inputs[0]]  # an empty result still has a shape
        output, reason = node.outputs[0], f"An operand has size 0 along axis {axis}."
        if len(kept) == 1 and kept[0] is not None:
            return Replacement([node], {output: kept[0]}, reason)
        shorter = NewNode("Concat", kept, dict(node.attributes))
        return Replacement([node], {output: shorter.output()}, reason, nodes=[shorter])

    @rule(ANY, name="EmptyResult")
    def empty(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the outputs by empty constants."""
        fact = context.symbolic.fact
        if not any([0 in (fact(value).shape or ()) for value in node.outputs]):
            return None  # as nearly always
        if node.domain or is_constant_node(node):
            return None
        used = [v for v in node.outputs if is_used(v)]
        if not used or not all([_is_empty(value, context) for value in used]):
            return None
        if next(bodies(node), None) is not None:
            return None
        if not context.deterministic(node):
            return Declined("the result is empty, but the node is not deterministic")
        values = _empty_constants(used, context)
        if isinstance(values, str):
            return Declined(f"the result is empty, but {values}")
        return Replacement([node], values, "The result has no elements.")


def _empty_along(value: ir.Value | None, axis: int, context: Context) -> bool:
    shape = context.symbolic.shape(value)
    return shape is not None and axis < len(shape) and shape[axis] == 0


def _is_empty(value: ir.Value, context: Context) -> bool:
    return 0 in (context.symbolic.shape(value) or ()) and value.dtype in _STORABLE


def _empty_constants(used: list[ir.Value], context: Context) -> Mapping[ir.Value, Operand] | str:
    """An empty constant for each value, or the sentence that says why not."""
    found: dict[ir.Value, Operand] = {}
    for value in used:
        shape = context.symbolic.shape(value) or ()
        dims = [dim for dim in shape if isinstance(dim, int)]
        if len(dims) < len(shape):
            free = next(dim for dim in shape if not isinstance(dim, int))
            return f"its dimension {shown(free)} is not known"
        dtype = value.dtype or ir.DataType.UNDEFINED
        tensor = ir.Tensor(np.zeros(dims, dtype=dtype.numpy()), dtype=dtype)
        found[value] = NewInitializer(tensor, f"{value.name or 'value'}_empty")
    return found
