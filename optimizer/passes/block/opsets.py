"""Whether a model may move to a newer version of ONNX's operator set as it is."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.graph import walk_nodes
from optimizer.passes.wording import described
from optimizer.rules import Context

OLDEST, NEWEST = 13, 17
"""From the one to the other, operators only gained types and optional inputs and attributes."""

_CHANGED = frozenset({"RoiAlign"})
"""Operators with other defaults in between."""


def obstacle(node: ir.Node, context: Context) -> str | None:
    """Why the model of `node` cannot use opset 17 instead of its own; None when it can.

    The answer is looked up once a round.
    """
    if "obstacle" not in context.memory:
        context.memory["obstacle"] = _find(node, context)
    found = context.memory["obstacle"]
    return None if found is None else str(found)


def _find(node: ir.Node, context: Context) -> str | None:
    if context.opset() < OLDEST:
        return f"between opset {context.opset()} and {OLDEST} operators changed their form"
    assert isinstance(node.graph, ir.Graph)
    *_, outermost = context.scopes(node.graph)
    for other in walk_nodes(outermost):
        if other.domain:
            continue
        training = other.op_type == "BatchNormalization" and len(other.outputs) > 1
        if other.op_type in _CHANGED or training:
            return f"{described(other)} means something else there"
    return None
