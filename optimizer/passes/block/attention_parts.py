"""Scaled dot-product attention spelled out: what the operator is given for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.passes.block.attention_pattern import (
    MOST_MASKS,
    choice_of,
    dims_of,
    masks_of,
    scale_of,
    shapes_of,
)
from optimizer.patterns import Found
from optimizer.rules import Context, NewInitializer, NewNode, Operand, producer_of, transposition

LOWEST = float(np.finfo(np.float32).min) / 4
"""Masks are cut off here: two may be added, and a row of the smallest float32 is not taken for one
without any key."""

HIDDEN = -1e30
"""Added to a score, it leaves nothing of it, as putting a number in its place does."""


@dataclass(frozen=True, slots=True)
class Parts:
    """softmax(query · keyᵀ · scale + mask) · value.

    Attributes:
        query: float32[batch, heads, queries, size], or with batch and heads as one axis.
        key: float32[batch, heads, keys, size] likewise, with the new nodes it takes.
        value: float32[batch, heads, keys, width] likewise.
        scale: a positive number.
        mask: float32, with a row for every query and a column for every key; None for none.
        nodes: the new ones, producers first.
        moved: nodes above the pattern whose work the operator does.
    """

    query: ir.Value
    key: Operand
    value: ir.Value
    scale: float
    mask: Operand | None
    nodes: tuple[NewNode, ...]
    moved: tuple[ir.Node, ...]


def parts_of(found: Found, context: Context) -> Parts:
    """What a place of the pattern computes with."""
    made: list[NewNode] = []
    key, factor, moved = _key(found.values["keys"], context, made)
    mask = _mask(found, context, made)
    scale = scale_of(found) * factor
    query, value = found.values["query"], found.values["value"]
    return Parts(query, key, value, scale, mask, (*made,), moved)


def _key(
    keys: ir.Value, context: Context, made: list[NewNode]
) -> tuple[Operand, float, tuple[ir.Node, ...]]:
    """The key with its size last, by what it is to be multiplied still, and what made it so."""
    rank = len(context.symbolic.shape(keys) or ())
    source, perm, moved = keys, [*range(rank - 2), rank - 1, rank - 2], list[ir.Node]()
    above = producer_of(keys, "Transpose")
    order = None if above is None else transposition(above, context)
    if above is not None and order is not None and above.inputs[0] is not None:
        source, perm = above.inputs[0], [*order[:-2], order[-1], order[-2]]
        moved = [above]
    factor, unscaled = _unscaled(source, context)
    scaling = source.producer()
    if unscaled is not source and scaling is not None:
        source, moved = unscaled, [scaling, *moved]
    if perm == [*range(rank)]:
        return source, factor, (*moved,)
    made.append(NewNode("Transpose", [source], {"perm": perm}))
    return made[-1].output(), factor, (*moved,)


def _unscaled(value: ir.Value, context: Context) -> tuple[float, ir.Value]:
    """A value without the number that it is multiplied by, and that number; 1 where it has none."""
    above = producer_of(value, "Mul", "Div")
    if above is None or not context.single_use(value):
        return 1.0, value
    source, number = above.inputs
    if above.op_type == "Mul" and context.scalar(number) is None:
        source, number = number, source
    known = context.scalar(number)
    if known is None or source is None or not context.same_shape(source, value) or known <= 0:
        return 1.0, value
    return (float(known) if above.op_type == "Mul" else 1 / float(known)), source


def _mask(found: Found, context: Context, made: list[NewNode]) -> Operand | None:
    """All masks as one that is added, with the shape that the operator wants."""
    query, keys, _ = shapes_of(found, context) or [(), (), ()]
    summed: Operand | None = None
    rows: set[Dimension] = {1}
    columns: set[Dimension] = {1}
    parts = [_summand(found, index, context, made) for index in range(MOST_MASKS)]
    for part in [*parts, _windows(found, context, made)]:
        if part is None:
            continue
        shape = (1, 1, *(context.symbolic.shape(part[1]) or ()))
        rows.add(shape[-2])
        columns.add(shape[-1])
        added = part[0]
        if len(query) == 3 and len(shape) == 5 and shape[2] != 1:  # heads stand beside the batch
            made.append(NewNode("Unsqueeze", [added, NewInitializer.ints([1], "axis")]))
            added = made[-1].output()
        if summed is None:
            summed = added
        else:
            made.append(NewNode("Add", [summed, added]))
            summed = made[-1].output()
    if summed is None:
        return None
    if rows <= {1, query[-2]} and columns <= {1, keys[-1]} and len(rows) == len(columns) == 2:
        return summed
    sizes = _sizes(found, context, rows, columns, made)
    made.append(NewNode("Expand", [summed, sizes]))
    return made[-1].output()


def _summand(
    found: Found, index: int, context: Context, made: list[NewNode]
) -> tuple[Operand, ir.Value] | None:
    """One mask as it is added, and the value that has its shape."""
    mask = found.values.get(f"mask {index}")
    if mask is not None:
        if not _is_cut(mask, found, context):
            return mask, mask
        made.append(NewNode("Max", [mask, _number(LOWEST, "lowest")]))
        return made[-1].output(), mask
    low = found.numbers.get(f"low {index}")
    if low is None:
        return None
    shown, hidden = found.values.get(f"shown {index}"), found.values.get(f"hidden {index}")
    never = "instead" in found.numbers and low == -math.inf
    number = _number(low if never else max(min(low, HIDDEN), LOWEST), "hidden")
    if shown is not None:
        made.append(NewNode("Where", [shown, _number(0, "shown"), number]))
        return made[-1].output(), shown
    assert hidden is not None
    made.append(NewNode("Where", [hidden, number, _number(0, "shown")]))
    return made[-1].output(), hidden


def _is_cut(mask: ir.Value, found: Found, context: Context) -> bool:
    """Whether a mask may hold numbers that the operator takes for no key at all."""
    array = context.array(mask)
    numbers = choice_of(mask, context) if array is None else [float(array.min(initial=0))]
    lowest = min(numbers) if numbers else -math.inf
    return lowest < LOWEST and not ("instead" in found.numbers and lowest == -math.inf)


def _windows(
    found: Found, context: Context, made: list[NewNode]
) -> tuple[Operand, ir.Value] | None:
    """A mask for each window, as often as there are pictures, and the value that has its shape."""
    mask, query = found.values.get("windows"), found.values["query"]
    if mask is None:
        return None
    windows, batch = dims_of(mask, context)[1], dims_of(query, context)[0]
    assert isinstance(windows, int)
    array = context.array(mask)
    if array is not None and not _is_cut(mask, found, context):
        one: Operand = NewInitializer.of(array[0], "windows")
    else:
        made.append(NewNode("Max", [mask, _number(LOWEST, "lowest")]))
        made.append(NewNode("Squeeze", [made[-1].output(), NewInitializer.ints([0], "axis")]))
        one = made[-1].output()
    if batch == windows:
        return one, mask
    whole = NewInitializer.ints([windows], "windows")
    made.append(NewNode("Div", [_size(query, 0, made), whole]))
    ones = NewInitializer.ints([1, 1, 1], "ones")
    made.append(NewNode("Tile", [one, _joined([made[-1].output(), ones], made)]))
    return made[-1].output(), mask


def _number(number: float, hint: str) -> NewInitializer:
    return NewInitializer.of(number, hint, np.float32)


def _sizes(
    found: Found,
    context: Context,
    rows: set[Dimension],
    columns: set[Dimension],
    made: list[NewNode],
) -> Operand:
    """What a mask with these rows and columns is expanded to; 1 where it has as many already."""
    shapes = shapes_of(found, context) or []
    rank, queries, keys = len(shapes[0]), shapes[0][-2], shapes[1][-1]
    if isinstance(queries, int) and isinstance(keys, int):
        return NewInitializer.ints([1, 1, queries, keys], "mask_shape")
    masks = [*masks_of(found)]
    shape = (context.symbolic.shape(masks[0]) or ()) if len(masks) == 1 else ()
    # The mask's own size is the same in every layer.
    own = len(shape) == 4 and shape[3] == keys == queries
    row = (masks[0], 3) if own else (found.values["query"], rank - 2)
    sizes: list[Operand] = [
        NewInitializer.ints([1, 1], "ones"),
        _missing(queries, rows, row, made),
        _missing(keys, columns, (found.values["keys"], rank - 1), made),
    ]
    made.append(NewNode("Concat", sizes, {"axis": 0}))
    return made[-1].output()


def _missing(
    size: Dimension, there: set[Dimension], axis: tuple[ir.Value, int], made: list[NewNode]
) -> Operand:
    """The size of a value's axis; 1 where it is there."""
    known = 1 if size in there else size
    return NewInitializer.ints([known], "size") if isinstance(known, int) else _size(*axis, made)


def _size(value: ir.Value, axis: int, made: list[NewNode]) -> Operand:
    made.append(NewNode("Shape", [value]))
    made.append(NewNode("Gather", [made[-1].output(), NewInitializer.ints([axis], "axis")]))
    return made[-1].output()


def _joined(sizes: list[Operand], made: list[NewNode]) -> Operand:
    made.append(NewNode("Concat", sizes, {"axis": 0}))
    return made[-1].output()
