"""Half of a channel shuffle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    producer_of,
    transposition,
)

_REGROUPING = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
_MOST_MOVES = 4

Digits: TypeAlias = tuple[tuple[int, int], ...]
"""How an index along one axis is put together: sizes and strides in x, the outermost first."""


@dataclass(frozen=True, slots=True)
class Sliced:
    """Elements at a constant distance along one axis of x."""

    axis: int
    start: int
    end: int
    step: int


@register
class RecognizeStridedSlice(Pass):
    """Recognize a Slice with a step.

    What it does:
        A Gather of one place of a value that only Reshapes and Transposes made of x becomes a
        Slice of x, where it picks elements of x at a constant distance along one axis: each half
        of a channel shuffle is one.
    Before:
        x[1, 48, 44, 44] → Reshape(24, 2, 1936) → Transpose(1, 0, 2) → Reshape(2, 1, 24, 44, 44)
        → Gather(0)
    After:
        x[1, 48, 44, 44] → Slice(axis 1, step 2)
    When it is safe:
        All sizes are known, and the index is a constant inside its axis.
    Numerics:
        Bit-identical: elements are moved, never computed.
    Source:
        Zhang et al. 2018, "ShuffleNet"; ONNX operator specification, Slice.
    """

    id = "recognize-strided-slice"
    exactness = "exact"
    order = 30

    @rule("Gather", name="GatherOfShuffle", reach=_MOST_MOVES + 1)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """One place of what was moved around."""
        index, dims = context.scalar(node.inputs[1]), context.dims(node.inputs[0])
        axis = context.attribute(node, "axis")
        if not isinstance(index, int) or context.rank(node.inputs[1]) != 0 or not dims:
            return None
        if not isinstance(axis, int) or context.opset() < 10 or 0 in dims:
            return None
        axis %= len(dims)
        if not -dims[axis] <= index < dims[axis]:
            return None
        for source, moves in _sources(node):
            found = _sliced(source, moves, (axis, index % dims[axis]), context)
            if found is not None:
                return _replacement(node, source, found)
        return None


def _sources(node: ir.Node) -> Iterator[tuple[ir.Value, list[ir.Node]]]:
    """Values that the picked one was moved from, the farthest first, with the moves in order."""
    moves: list[ir.Node] = []
    value = node.inputs[0]
    while len(moves) < _MOST_MOVES:
        above = producer_of(value, "Transpose", *_REGROUPING)
        if above is None:
            break
        moves.insert(0, above)
        value = above.inputs[0]
    for skipped in range(len(moves)):
        source = moves[skipped].inputs[0]
        if source is not None:
            yield source, moves[skipped:]


def _sliced(
    source: ir.Value, moves: Sequence[ir.Node], picked: tuple[int, int], context: Context
) -> Sliced | None:
    """The Slice of `source` that is the picked place of what the moves made of it."""
    dims = context.dims(source)
    if dims is None:
        return None
    axes: list[Digits] | None = [
        ((size, stride),) for size, stride in zip(dims, _strides(dims), strict=True)
    ]
    for move in moves:
        if move.op_type == "Transpose":
            perm = transposition(move, context)
            axes = None if axes is None or perm is None else [axes[place] for place in perm]
        else:
            made = context.dims(move.outputs[0])
            axes = None if axes is None or made is None else _regrouped(axes, made)
    if axes is None:
        return None
    axis, index = picked
    offset = 0
    for size, stride in reversed(axes.pop(axis)):
        index, digit = divmod(index, size)
        offset += digit * stride
    merged = [_merged(digits) for digits in axes]
    return None if None in merged else _along_one_axis(dims, [m for m in merged if m], offset)


def _strides(dims: Sequence[int]) -> list[int]:
    return [math.prod(dims[place + 1 :]) for place in range(len(dims))]


def _regrouped(axes: Sequence[Digits], dims: Sequence[int]) -> list[Digits] | None:
    """The same elements in the same order, as axes of other sizes; None where digits do not fit."""
    left = [digit for digits in axes for digit in digits if digit[0] != 1][::-1]
    found: list[Digits] = []
    for wanted in dims:
        digits: list[tuple[int, int]] = []
        while wanted > 1 and left:
            size, stride = left.pop()
            if wanted % size == 0:
                digits.append((size, stride))
                wanted //= size
            elif size % wanted == 0:
                inner = size // wanted
                digits.append((wanted, stride * inner))
                left.append((inner, stride))
                wanted = 1
            else:
                return None
        found.append(tuple(digits))
    return found


def _merged(digits: Digits) -> tuple[int, int] | None:
    """An axis' size, and the one distance between its elements; None where it varies."""
    size, distance = 1, 0
    for count, stride in reversed(digits):
        if count == 1:
            continue
        if size > 1 and stride != size * distance:
            return None
        distance = distance if size > 1 else stride
        size *= count
    return size, distance


def _along_one_axis(
    dims: Sequence[int], axes: Sequence[tuple[int, int]], offset: int
) -> Sliced | None:
    """The one axis of x along which the elements are a part; all others are as in x."""
    if len(axes) != len(dims):
        return None
    found: Sliced | None = None
    for axis, (size, stride, (count, distance)) in enumerate(
        zip(dims, _strides(dims), axes, strict=True)
    ):
        if count == size and (size == 1 or distance == stride):
            continue
        if found is not None or distance % stride or offset % stride:
            return None
        start, step = offset // stride, max(1, distance // stride)
        end = start + (count - 1) * step + 1
        if end > size:
            return None
        found = Sliced(axis, start, end, step)
    return found


def _replacement(node: ir.Node, source: ir.Value, found: Sliced) -> Replacement:
    ends = [[found.start], [found.end], [found.axis], [found.step]]
    names = ("starts", "ends", "axes", "steps")
    made = NewNode(
        "Slice",
        [
            source,
            *(NewInitializer.ints(n, name) for n, name in zip(ends, names, strict=True)),
        ],
    )
    reason = (
        f"It picks elements of {source.name} along axis {found.axis}: {found.start} to "
        f"{found.end}, step {found.step}."
    )
    return Replacement.by(made, reason, node)
