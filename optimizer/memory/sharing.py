"""Which values may share memory: views of one another, and results written over what they read.

Only the rules are here, node by node; whether an input is really needed no more depends on the
order of the nodes, see `pieces`.
"""

from __future__ import annotations

import onnx_ir as ir

from optimizer.folding.elementwise import UNARY
from optimizer.verify.randomness import is_random

_STANDARD = frozenset({"", "ai.onnx"})
_UNSIZED = frozenset({ir.DataType.STRING, ir.DataType.UNDEFINED})
_VIEWS = frozenset({"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
_FIRST = UNARY | {
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BatchNormalization", "BitCast",
    "BitwiseNot", "CastLike", "Celu", "Clip", "Cos", "Cosh", "IsInf", "IsNaN", "Mish", "Shrink",
    "Sin", "Sinh", "Softsign", "Swish", "Tan", "ThresholdedRelu",
}  # fmt: skip
_ROWS = frozenset({"LogSoftmax", "Softmax"})
"""A result depends on its row alone, and kernels have read a row before they write it."""

_FIRST_CONTRIB = frozenset({"BiasGelu", "FastGelu", "Gelu", "QuickGelu"})
_ANY = frozenset(
    {
        "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal",
        "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul",
        "Or", "PRelu", "Pow", "Sub", "Sum", "Where", "Xor",
    }
)  # fmt: skip


def looks_at(node: ir.Node) -> ir.Value | None:
    """The input whose bytes are the first output, unchanged; None where they are new."""
    if node.op_type not in _VIEWS or node.domain not in _STANDARD or not node.inputs:
        return None
    return None if node.op_type == "Dropout" and _trains(node) else node.inputs[0]


def may_write_over(node: ir.Node) -> list[ir.Value]:
    """The inputs that the first output may replace, were they needed no more and as large.

    Element i of the output depends on element i of such an input alone, or on its row. An input
    that is broadcast has fewer elements than the output, which the caller finds by size; one of
    another width per element is left out here.
    """
    if not node.inputs or not node.outputs:
        return []
    if node.domain in _STANDARD:
        if node.op_type in _ANY:
            return [value for value in node.inputs if value is not None and _as_wide(node, value)]
        fitting = node.op_type in _ROWS or (
            node.op_type in _FIRST and (node.op_type != "BatchNormalization" or _infers(node))
        )
    else:
        fitting = node.domain == "com.microsoft" and node.op_type in _FIRST_CONTRIB
    first = node.inputs[0]
    return [first] if fitting and first is not None and _as_wide(node, first) else []


def _as_wide(node: ir.Node, value: ir.Value) -> bool:
    read, made = value.dtype, node.outputs[0].dtype
    if read is None or made is None or not _UNSIZED.isdisjoint((read, made)):
        return False
    return read == made or read.bitwidth == made.bitwidth


def _trains(node: ir.Node) -> bool:
    """Whether a Dropout drops anything; before opset 7 it says `is_test` where it does not."""
    old = node.graph is not None and node.graph.opset_imports.get("", 7) < 7
    test = node.attributes.get("is_test")
    return is_random(node) or (old and (test is None or not test.as_int()))


def _infers(node: ir.Node) -> bool:
    """Whether a BatchNormalization scales and shifts only, instead of taking statistics."""
    mode = node.attributes.get("training_mode")
    extra = any(value.name for value in node.outputs[1:])
    return not extra and (mode is None or not mode.as_int())
