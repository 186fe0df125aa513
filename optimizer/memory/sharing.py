"""Which values may share memory: views of one another, and results written over what they read.

Only the rules are here, node by node; whether an input is really needed no more depends on the
order of the nodes, see `pieces`.
"""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators.catalogue import is_random, operator_of

_UNSIZED = frozenset({ir.DataType.STRING, ir.DataType.UNDEFINED})


def looks_at(node: ir.Node) -> ir.Value | None:
    """The input whose bytes are the first output, unchanged; None where they are new."""
    operator = operator_of(node)
    if operator is None or operator.result != "view" or not node.inputs or is_random(node):
        return None
    return node.inputs[0]


def may_write_over(node: ir.Node) -> list[ir.Value]:
    """The inputs that the first output may replace, were they needed no more and as large.

    Element i of the output depends on element i of such an input alone, or on its row. An input
    that is broadcast has fewer elements than the output, which the caller finds by size; one of
    another width per element is left out here.
    """
    if not node.inputs or not node.outputs:
        return []
    operator = operator_of(node)
    if operator is None or operator.overwrites == "nothing":
        return []
    if operator.name == "BatchNormalization" and not _infers(node):
        return []
    candidates = node.inputs if operator.overwrites == "any" else node.inputs[:1]
    return [value for value in candidates if value is not None and _as_wide(node, value)]


def _as_wide(node: ir.Node, value: ir.Value) -> bool:
    read, made = value.dtype, node.outputs[0].dtype
    if read is None or made is None or not _UNSIZED.isdisjoint((read, made)):
        return False
    return read == made or read.bitwidth == made.bitwidth


def _infers(node: ir.Node) -> bool:
    """Whether a BatchNormalization scales and shifts only, instead of taking statistics."""
    mode = node.attributes.get("training_mode")
    extra = any(value.name for value in node.outputs[1:])
    return not extra and (mode is None or not mode.as_int())
