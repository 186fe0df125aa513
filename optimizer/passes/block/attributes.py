"""Attributes as the type they must have."""

from __future__ import annotations

from typing import cast

import onnx_ir as ir

from optimizer.rules import Context


def number(node: ir.Node, name: str, context: Context) -> float:
    """A float attribute; the operator's default where it is not set."""
    value = context.attribute(node, name)
    assert isinstance(value, float), f"{node.op_type} has a number {name}"
    return value


def integers(node: ir.Node, name: str, context: Context) -> list[int] | None:
    """A list of integers; None where it is not set and the operator has no default."""
    value = context.attribute(node, name)
    return [*cast(list[int], value)] if isinstance(value, (list, tuple)) else None
