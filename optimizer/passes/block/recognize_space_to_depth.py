"""Blocks of places that become channels, and channels that become blocks of places."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.dimension import Dimension
from optimizer.passes.block.ranges import FAR, Range, ranges_of
from optimizer.passes.draft import Draft, NotHere
from optimizer.passes.wording import escaping, shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    Operand,
    Outcome,
    Replacement,
    producer_of,
    transposition,
)

_TYPES = (ir.DataType.FLOAT, ir.DataType.DOUBLE)
"""What ONNX Runtime has kernels for on every target."""
_MOST_SLICES = 3
"""In a row: one for each axis."""
_MOST_AXES = 3
_CRD_SINCE = 11
"""The operator set since which DepthToSpace takes channels first."""

Sizes = Sequence[Dimension]


@dataclass(frozen=True, slots=True)
class _Part:
    """Every so many elements of a value along some axes.

    Attributes:
        source: the value.
        ranges: by axis, each with a step of at least 2.
        nodes: the Slices, the last one first.
    """

    source: ir.Value
    ranges: Mapping[int, Range]
    nodes: Sequence[ir.Node]


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A value taken apart into blocks, of which each place goes to a channel.

    Attributes:
        source: the value.
        shape: of the source.
        steps: how long a block is along each axis that is cut, by axis; the axis whose place in
            the block varies slowest from part to part comes first.
    """

    source: ir.Value
    shape: Sizes
    steps: Mapping[int, int]


@register
class RecognizeSpaceToDepth(Pass):
    """Recognize SpaceToDepth and DepthToSpace.

    What it does:
        Slices that take every second row and column of a value, put together along its channels,
        move blocks of places to channels: YOLO's Focus does so, and Swin's merging of patches.
        Where channels come first that is SpaceToDepth, where they come last a Transpose between two
        Reshapes. Written as a Transpose between two Reshapes it is SpaceToDepth where channels come
        first, and DepthToSpace the other way round. Channels in another order than the operator's
        are gathered.
    Before:
        x[1, 64, 128, 128] → Reshape → Transpose → Reshape
    After:
        x[1, 64, 128, 128] → SpaceToDepth(2)
    When it is safe:
        The Slices take each place of a block once, all blocks have one size, and nothing else
        reads the parts. Sizes that have to be divided are known, but for SpaceToDepth of Slices,
        whose Concat takes parts of one size only. The operators are for float32 and float64.
    Numerics:
        Bit-identical: elements are moved, never computed.
    Source:
        ONNX operator specification, SpaceToDepth, DepthToSpace; Jocher 2020, YOLOv5 (Focus); Liu et
        al. 2021, "Swin Transformer". On a CPU, ONNX Runtime 1.31 takes a fifth of the time of
        Reshape, Transpose, Reshape for SpaceToDepth, and half of that of the eight Slices.
    """

    id = "recognize-space-to-depth"
    exactness = "exact"
    order = 30

    @rule("Concat", name="SlicesOfBlocks", reach=_MOST_SLICES + 1)
    def slices(self, node: ir.Node, context: Context) -> Outcome:
        """Parts that take every so many elements."""
        parts = _parts(node, context)
        if parts is None:
            return None
        blocks = _blocks(parts, context)
        if blocks is None:
            return Declined("The Slices do not take each place of a block once, in order")
        inside = [*dict.fromkeys(each for part in parts for each in part.nodes)]
        obstacle = escaping([*inside, node], node)
        if obstacle is not None:
            return obstacle
        axis = context.attribute(node, "axis")
        assert isinstance(axis, int)
        draft = Draft(context.opset(), node.outputs[0].name or "blocks")
        try:
            result, reason = _written(blocks, axis % len(blocks.shape), draft)
        except NotHere as why:
            return Declined(f"The blocks cannot be moved otherwise: {why}")
        return Replacement([*inside[::-1], node], {node.outputs[0]: result}, reason, draft.made)

    @rule("Reshape", name="BlocksByTranspose", reach=3)
    def views(self, node: ir.Node, context: Context) -> Outcome:
        """An image that is cut, turned and put together again."""
        turn = producer_of(node.inputs[0], "Transpose")
        cut = None if turn is None else producer_of(turn.inputs[0], "Reshape")
        source = None if cut is None else cut.inputs[0]
        if turn is None or cut is None or source is None or node.outputs[0].dtype not in _TYPES:
            return None
        perm = transposition(turn, context)
        shapes = [context.symbolic.shape(v) for v in (source, cut.outputs[0], node.outputs[0])]
        if perm is None or len(perm) != 6 or any(shape is None for shape in shapes):
            return None
        image, pieces, result = (shape or () for shape in shapes)
        if len(image) != 4 or len(result) != 4:
            return None
        draft = Draft(context.opset(), node.outputs[0].name or "blocks")
        made = _to_depth(source, (image, pieces, result), perm, draft) or _to_space(
            source, (image, pieces, result), perm, draft
        )
        if made is None:
            return None
        obstacle = shared(cut.outputs[0], turn) or shared(turn.outputs[0], node)
        if obstacle is not None:
            return obstacle
        reason = "Reshape and Transpose only move blocks of places to channels, or back."
        return Replacement([cut, turn, node], {node.outputs[0]: made}, reason, draft.made)


def _parts(node: ir.Node, context: Context) -> list[_Part] | None:
    """The operands of a Concat, if all are strided Slices of one value."""
    parts: list[_Part] = []
    for value in node.inputs:
        part = _part(value, node, context)
        if part is None or (parts and part.source is not parts[0].source):
            return None
        parts.append(part)
    return parts if len(parts) > 1 else None


def _part(value: ir.Value | None, reader: ir.Node, context: Context) -> _Part | None:
    nodes: list[ir.Node] = []
    ranges: dict[int, Range] = {}
    while len(nodes) < _MOST_SLICES:
        above = producer_of(value, "Slice")
        if above is None or above.graph is not reader.graph:
            break
        found = ranges_of(above, context)
        if not found or any(taken.step == 1 for taken in found.values()) or ranges.keys() & found:
            break
        ranges |= found
        nodes.append(above)
        value = above.inputs[0]
    return _Part(value, ranges, nodes) if value is not None and nodes else None


def _blocks(parts: Sequence[_Part], context: Context) -> _Blocks | None:
    """The blocks of which the parts are the places, in the order of a block's axes."""
    source = parts[0].source
    shape = context.symbolic.shape(source)
    steps = {axis: taken.step for axis, taken in parts[0].ranges.items()}
    if (
        shape is None
        or not 1 <= len(steps) <= _MOST_AXES
        or math.prod(steps.values()) != len(parts)
    ):
        return None
    for part in parts:
        if {axis: taken.step for axis, taken in part.ranges.items()} != steps:
            return None
        if not all(_is_whole(taken, shape[axis]) for axis, taken in part.ranges.items()):
            return None
    for axes in permutations(sorted(steps)):
        places = product(*(range(steps[axis]) for axis in axes))
        if [tuple(part.ranges[axis].start for axis in axes) for part in parts] == [*places]:
            return _Blocks(source, shape, {axis: steps[axis] for axis in axes})
    return None


def _is_whole(taken: Range, size: Dimension) -> bool:
    """Whether a place is taken of every block of an axis.

    Of a free size the Concat takes only parts of equal size, so that blocks fill it.
    """
    if not isinstance(size, int):
        return 0 <= taken.start < taken.step and taken.stop >= FAR
    found = taken.within(size)
    return size % taken.step == 0 and found.start < taken.step and found.count * taken.step == size


def _written(blocks: _Blocks, axis: int, draft: Draft) -> tuple[Operand, str]:
    """The parts put together along an axis, otherwise, and why that is the same.

    Raises:
        NotHere: it cannot be written.
    """
    lengths = " × ".join(map(str, blocks.steps.values()))
    if axis in blocks.steps:
        raise NotHere("they are put together along an axis that is cut")
    if axis > max(blocks.steps):
        reason = f"The Slices take blocks of {lengths} apart: so does one Transpose."
        return _moved(blocks, axis, draft), reason
    block, *others = blocks.steps.values()
    image = len(blocks.shape) == 4 and axis == 1 and sorted(blocks.steps) == [2, 3]
    if not image or others != [block] or blocks.source.dtype not in _TYPES:
        raise NotHere("they are no squares of a float image whose channels come first")
    labels = (0, 1, 2) if next(iter(blocks.steps)) == 2 else (1, 0, 2)
    reason = f"The Slices take blocks of {lengths} apart, which is SpaceToDepth."
    return _space_to_depth(blocks.source, block, blocks.shape[1], labels, draft), reason


def _moved(blocks: _Blocks, axis: int, draft: Draft) -> Operand:
    """Reshape, Transpose, Reshape: what is cut stands before the axis it is put into."""
    shape, cut = blocks.shape, dict[tuple[int, bool], Dimension]()  # places in a block are inside
    for place, size in enumerate(shape):
        block = blocks.steps.get(place)
        if block is not None and not isinstance(size, int):
            raise NotHere("a size that is cut is free in the file")
        cut[place, False] = size if block is None else size // block
        if block is not None:
            cut[place, True] = block
    inside = [(place, True) for place in blocks.steps]
    order = [(place, False) for place in range(len(shape))]
    order[axis:axis] = inside
    perm = [[*cut].index(piece) for piece in order]
    sizes = [size // blocks.steps[n] if n in blocks.steps else size for n, size in enumerate(shape)]
    sizes[axis] *= math.prod(blocks.steps.values())
    value: Operand = blocks.source
    if perm != sorted(perm):
        value = draft.reshape(value, *_target([*cut.values()], shape))
        value = draft.new("Transpose", value, perm=perm)
    return draft.reshape(value, *_target(sizes, shape))


def _target(sizes: Sizes, source: Sizes) -> Iterator[int]:
    """What a Reshape is given: 0 for a free size that stays in its place, -1 for another one.

    Raises:
        NotHere: it cannot be told; -1 is none where a size beside it, being free, may be 0.
    """
    if 0 in sizes:
        raise NotHere("there are no elements")
    free = [place for place, size in enumerate(sizes) if not isinstance(size, int)]
    moved = [place for place in free if place >= len(source) or source[place] != sizes[place]]
    if moved and len(free) > 1:
        raise NotHere("more than one of its sizes is free in the file")
    return (
        size if isinstance(size, int) else -1 if place in moved else 0
        for place, size in enumerate(sizes)
    )


def _space_to_depth(
    source: ir.Value, block: int, channels: Dimension, labels: Sequence[int], draft: Draft
) -> Operand:
    """SpaceToDepth, and its channels in another order.

    `labels` is 0 for the row in a block, 1 for the column, 2 for the channel; what varies slowest
    comes first. The operator's own order is 0, 1, 2.

    Raises:
        NotHere: the channels have another order, and are not counted.
    """
    result = draft.new("SpaceToDepth", source, blocksize=block)
    if tuple(labels) == (0, 1, 2):
        return result
    if not isinstance(channels, int):
        raise NotHere("the number of its channels is free in the file")
    order: NDArray[np.int64] = np.arange(block * block * channels, dtype=np.int64)
    order = order.reshape(block, block, channels).transpose(labels).reshape(-1)
    return draft.new("Gather", result, draft.integers(*order.tolist()), axis=1)


def _to_depth(
    source: ir.Value, shapes: tuple[Sizes, Sizes, Sizes], perm: Sequence[int], draft: Draft
) -> Operand | None:
    """Rows and columns of blocks become channels."""
    image, pieces, result = shapes
    channels, block = image[1], pieces[3]
    if perm[0] != 0 or list(perm[4:]) != [2, 4] or not isinstance(channels, int):
        return None
    if not isinstance(block, int) or block < 2:
        return None
    cut = (image[0], channels, pieces[2], block, pieces[4], block)
    whole = (image[0], channels, pieces[2] * block, pieces[4] * block)
    made = (image[0], channels * block * block, pieces[2], pieces[4])
    if tuple(pieces) != cut or tuple(image) != whole or tuple(result) != made:
        return None
    labels = [{1: 2, 3: 0, 5: 1}[axis] for axis in perm[1:4]]
    return _space_to_depth(source, block, channels, labels, draft)


def _to_space(
    source: ir.Value, shapes: tuple[Sizes, Sizes, Sizes], perm: Sequence[int], draft: Draft
) -> Operand | None:
    """Channels become rows and columns of blocks."""
    image, pieces, result = shapes
    modes = {(0, 3, 4, 1, 5, 2): "DCR", (0, 1, 4, 2, 5, 3): "CRD"}
    mode = modes.get((perm[0], perm[1], perm[2], perm[3], perm[4], perm[5]))
    if mode is None or (mode == "CRD" and draft.opset < _CRD_SINCE):
        return None
    channels, block = (pieces[3], pieces[1]) if mode == "DCR" else (pieces[1], pieces[2])
    if not isinstance(channels, int) or not isinstance(block, int) or block < 2:
        return None
    middle = (block, block, channels) if mode == "DCR" else (channels, block, block)
    cut = (image[0], *middle, image[2], image[3])
    made = (image[0], channels, image[2] * block, image[3] * block)
    if tuple(pieces) != cut or tuple(result) != made or image[1] != channels * block * block:
        return None
    told = {} if mode == "DCR" else {"mode": mode}
    return draft.new("DepthToSpace", source, blocksize=block, **told)
