"""How passes speak of nodes and values, and why a value may not be fused away."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.model.graph import node_id, readers, use_count
from optimizer.rules.context import Context
from optimizer.rules.replacement import Declined


def described(node: ir.Node) -> str:
    """A node for people: its operator and its name, or its id where it has none."""
    return f"{node.op_type} {quoted(node.name or node_id(node))}"


def shared(value: ir.Value, consumer: ir.Node) -> Declined | None:
    """Why `value` would still be needed if `consumer` no longer read it; None when it would not.

    The value has a producer.
    """
    producer = value.producer()
    assert producer is not None
    if value.is_graph_output():
        return Declined(f"{producer.op_type} output is a graph output", (producer,))
    other = next((reader for reader in readers(value) if reader is not consumer), None)
    if other is not None:
        reason = f"{producer.op_type} output has a second consumer: {described(other)}"
        return Declined(reason, (producer, other))
    if use_count(value) > 1:
        return Declined(
            f"{consumer.op_type} reads the {producer.op_type} output twice", (producer,)
        )
    return None


def variable(value: ir.Value | None, role: str, context: Context) -> Declined | None:
    """Why a value is not known beforehand; None when it is a constant.

    Args:
        value: an input of some node.
        role: what that node calls it: "weight".
        context: of the rule that asks.
    """
    tensor = context.tensor(value)
    if value is None or (tensor is not None and tensor.dtype != ir.DataType.STRING):
        return None
    name = quoted(value.name or "")
    if value.is_graph_input() and value.is_initializer():
        reason = f"The {role} is a graph input, its default may be overridden: {name}"
        return Declined(reason, unlock="Switch on fix-defaults.")
    if value.is_graph_input():
        return Declined(f"The {role} is a graph input: {name}")
    producer = value.producer()
    if producer is None:
        return Declined(f"The {role} is not known beforehand: {name}")
    return Declined(f"The {role} is computed by {described(producer)}")


def escaping(nodes: Sequence[ir.Node], root: ir.Node) -> Declined | None:
    """Why some value inside a pattern would still be needed once its nodes are gone.

    Args:
        nodes: the pattern.
        root: its last node, whose outputs are replaced.
    """
    inside = set(nodes)
    for node in nodes:
        if node is root:
            continue
        for value in node.outputs:
            if value.is_graph_output():
                return Declined(f"{node.op_type} output is a graph output", (node,))
            other = next((reader for reader in readers(value) if reader not in inside), None)
            if other is not None:
                reason = f"{node.op_type} output has another consumer: {described(other)}"
                return Declined(reason, (node, other))
    return None
