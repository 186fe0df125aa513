"""A choice spelled out as arithmetic with 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.wording import described, shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    producer_of,
)

OPSET = 9
"""The first operator set with Where."""

_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.DOUBLE)
_MOVES = ("Expand", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze")
"""Operators that hand on elements of their first input."""

_MOST_MOVES = 6


@dataclass(frozen=True, slots=True)
class Indicator:
    """A value that is 0 or 1 everywhere.

    Attributes:
        source: what says which: booleans, or numbers that are 0 or 1 themselves.
        holds: whether it is 1 where the source holds.
        nodes: those that make it of the source.
    """

    source: ir.Value
    holds: bool
    nodes: tuple[ir.Node, ...] = ()


@dataclass(frozen=True, slots=True)
class _Product:
    """x times something that may be 0 or 1; `node` is the Mul."""

    node: ir.Node
    x: ir.Value
    factor: ir.Value


@register
class RecognizeWhere(Pass):
    """Recognize Where.

    What it does:
        A value times a condition that is written as 0 or 1, plus or minus a constant times the
        opposite, becomes Where. The condition is a Cast of booleans, a constant of zeros and ones,
        or elements that are taken out of one: GPT-2 hid later words so, tf2onnx writes choices so.
    Before:
        x · b − 10000 · (1 − b)
    After:
        Where(b, x, −10000)
    When it is safe:
        One factor is certainly 0 or 1 everywhere, the other one is 1 where it is 0. What is chosen
        instead of x is a finite constant, and x is finite: for x that is infinite or NaN where it
        is not chosen, the product with 0 is NaN, which no graph is written for. The model uses
        opset 9 or later, which has Where. Nothing else reads x times the condition.
    Numerics:
        Where x is finite, the same numbers but for the sign of a zero. Where x is infinite or NaN
        and not chosen, the constant takes the place of NaN.
    Source:
        x · 1 + n · 0 = x and x · 0 + n · 1 = n.
    """

    id = "recognize-where"
    exactness = "reassociates"
    order = 59

    @rule("Add", "Sub", name="ChoiceByArithmetic", reach=5 + _MOST_MOVES)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The sum of what is taken and of what stands in its place."""
        if node.outputs[0].dtype not in _FLOATS:
            return None
        near: Declined | None = None
        orders = (node.inputs, node.inputs[::-1]) if node.op_type == "Add" else (node.inputs,)
        for first, second in orders:
            for product in _products(first, node):
                found = _choice(product, second, node, context)
                if isinstance(found, Replacement):
                    return found
                near = near or found
        return near


def _products(value: ir.Value | None, reader: ir.Node) -> list[_Product]:
    """The two ways to read a product; none where a value is none."""
    node = producer_of(value, "Mul")
    if node is None or node.graph is not reader.graph:
        return []
    first, second = node.inputs
    if first is None or second is None:
        return []
    return [_Product(node, first, second), _Product(node, second, first)]


def _choice(
    product: _Product, rest: ir.Value | None, node: ir.Node, context: Context
) -> Replacement | Declined | None:
    """Where in place of the sum of a product and the rest."""
    if not context.is_constant(rest) and producer_of(rest, "Mul") is None:
        return None
    taken = indicator(product.factor, context)
    found = _known(taken, rest, context) or _opposite(product, taken, rest, context)
    if found is None or isinstance(found, Declined):
        return found
    number, nodes = found
    if not np.isfinite(number.astype(np.float64)).all():
        return Declined(f"What is chosen instead is finite: it is {number.flat[0]}", nodes)
    if context.opset() < OPSET:
        return Declined(f"Where needs opset {OPSET}, the model has opset {context.opset()}", nodes)
    if blocked := shared(product.node.outputs[0], node):
        return blocked
    assert taken is not None
    made: list[NewNode] = []
    condition = _condition(taken.source, context, made)
    instead = NewInitializer.of(-number if node.op_type == "Sub" else number, "instead")
    sides = (product.x, instead) if taken.holds else (instead, product.x)
    made.append(NewNode("Where", [condition, *sides]))
    matched = dict.fromkeys([*taken.nodes, *nodes, product.node, node])
    return Replacement(
        [each for each in matched if each.graph is node.graph],
        {node.outputs[0]: made[-1].output()},
        "A product with 1 is the value, with 0 it is 0: the sum is one or the other.",
        made,
    )


def _known(
    taken: Indicator | None, rest: ir.Value | None, context: Context
) -> tuple[np.ndarray, tuple[ir.Node, ...]] | None:
    """A constant that is 0 where a constant condition is 1: the product with the opposite."""
    flags = None if taken is None else context.array(taken.source)
    number = context.array(rest)
    if taken is None or flags is None or number is None or number.ndim > flags.ndim:
        return None
    pairs = zip(number.shape[::-1], flags.shape[::-1], strict=False)
    if any(size not in (1, whole) for size, whole in pairs):
        return None
    spread, chosen = np.broadcast_to(number, flags.shape), (flags != 0) == taken.holds
    if chosen.all() or not chosen.any() or spread[chosen].any():
        return None
    others = spread[~chosen]
    return (others[0] if (others == others[0]).all() else number), ()


def _opposite(
    product: _Product, taken: Indicator | None, rest: ir.Value | None, context: Context
) -> tuple[np.ndarray, tuple[ir.Node, ...]] | Declined | None:
    """A constant times the opposite of what a value is multiplied by."""
    other = producer_of(rest, "Mul")
    for constant, factor in ((0, 1), (1, 0)) if other is not None else ():
        assert other is not None
        number, opposite = context.array(other.inputs[constant]), other.inputs[factor]
        if number is None or opposite is None:
            continue
        left = indicator(opposite, context)
        if taken is None or left is None:
            if not _differ(opposite, product.factor, context):
                continue
            maker = product.factor.producer()
            there = "an input" if maker is None else described(maker)
            return Declined(f"The factor is 0 or 1 everywhere: it is {there}", (other,))
        if left.source is taken.source and left.holds != taken.holds:
            return number, (*left.nodes, other)
    return None


def _differ(opposite: ir.Value, factor: ir.Value, context: Context) -> bool:
    """Whether one value is 1 minus the other one."""
    return any(
        below is not None and below.inputs[1] is above and context.scalar(below.inputs[0]) == 1
        for below, above in (
            (producer_of(opposite, "Sub"), factor),
            (producer_of(factor, "Sub"), opposite),
        )
    )


def indicator(value: ir.Value | None, context: Context) -> Indicator | None:
    """What a value that is certainly 0 or 1 everywhere is made of; None for any other."""
    holds, nodes = True, tuple[ir.Node, ...]()
    for _ in range(_MOST_MOVES):
        below = producer_of(value, "Cast", "Sub")
        if below is None or (below.op_type == "Sub" and not _is_opposite(below, context)):
            break
        nodes = (below, *nodes)
        if below.op_type == "Sub":
            value, holds = below.inputs[1], not holds
            continue
        value = below.inputs[0]
        if value is not None and value.dtype == ir.DataType.BOOL:
            inverse = producer_of(value, "Not")
            if inverse is None or inverse.inputs[0] is None:
                return Indicator(value, holds, nodes)
            return Indicator(inverse.inputs[0], not holds, (inverse, *nodes))
    if value is None or not _is_binary(value, context):
        return None
    return Indicator(value, holds, nodes)


def _is_opposite(node: ir.Node, context: Context) -> bool:
    """Whether a Sub takes a value from 1, and has its shape."""
    one, rank = context.array(node.inputs[0]), context.rank(node.inputs[1])
    if one is None or one.size != 1 or one.item() != 1:
        return False
    return one.ndim == 0 or (rank is not None and one.ndim <= rank)


def _is_binary(value: ir.Value | None, context: Context) -> bool:
    """Whether all elements are taken out of a constant of zeros and ones, or of booleans."""
    for _ in range(_MOST_MOVES):
        array = context.array(value)
        if array is not None:
            return array.size > 1 and bool(((array == 0) | (array == 1)).all())
        above = producer_of(value, *_MOVES, "Cast")
        if above is None or above.inputs[0] is None:
            return False
        value = above.inputs[0]
        if above.op_type == "Cast" and value.dtype == ir.DataType.BOOL:
            return True
    return False


def _condition(source: ir.Value, context: Context, made: list[NewNode]) -> Operand:
    """The booleans that a source says."""
    if source.dtype == ir.DataType.BOOL:
        return source
    array = context.array(source)
    if array is not None:
        return NewInitializer.of(array != 0, "condition")
    made.append(NewNode("Cast", [source], {"to": ir.DataType.BOOL.value}))
    return made[-1].output()
