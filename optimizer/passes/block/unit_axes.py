"""Axes of size 1 that are left out, or put in."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.rules import Context, NewInitializer, NewNode, Operand

_AXES_AS_INPUT = 13
"""The first operator set in which Squeeze and Unsqueeze read their axes."""


def view(operator: str, value: Operand, axes: Sequence[int], context: Context) -> NewNode:
    """A Squeeze or Unsqueeze, as the model's operator set has it."""
    if context.opset() < _AXES_AS_INPUT:
        return NewNode(operator, [value], {"axes": [*axes]})
    base = f"{value.name}_axes" if isinstance(value, ir.Value) else "axes"
    return NewNode(operator, [value, NewInitializer.ints(axes, base)])


def axes_of(node: ir.Node, rank: int, context: Context) -> list[int] | None:
    """The axes, counted from the front of a rank; None where they are not given or not constant."""
    axes = context.parameter(node, "axes", 1)
    return None if axes is None else [axis + rank if axis < 0 else axis for axis in axes]
