"""Operators that move data without computing: reshaping, joining, repeating, resizing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimizer.model.dimension import Dimension, exact_divide, product
from optimizer.operators.call import (
    Call,
    Contradiction,
    Dim,
    Shape,
    Typed,
    axis_in,
    broadcast,
    non_negative,
    same,
    types,
)

_Known = tuple[Dimension, ...]


@types("Reshape")
def reshape(call: Call) -> list[Typed]:
    """0 copies the input's size (unless allowzero), -1 takes what is left."""
    data = call.shape(0)
    target = call.numbers("shape") if call.opset < 5 else call.elements(1)
    if target is None:
        length = call.shape(1)
        rank = length[0] if length else None
        return [(call.dtype(0), (None,) * rank if isinstance(rank, int) else None)]
    copies = not call.number("allowzero", 0)
    return [(call.dtype(0), reshaped(data, target, zero_copies=copies))]


def reshaped(data: _Known | None, target: Sequence[Dim], *, zero_copies: bool) -> Shape:
    """The shape that Reshape gives; None where it depends on what is not known."""
    result: list[Dim] = []
    for axis, dim in enumerate(target):
        if dim == 0 and zero_copies:
            result.append(data[axis] if data is not None and axis < len(data) else None)
        elif isinstance(dim, int):
            result.append(None if dim == -1 else dim)
        else:
            result.append(None if dim is None else _sure(dim))
    if data is None:
        return tuple(result)
    total = product(data)
    unknown = [axis for axis, dim in enumerate(result) if dim is None]
    rest = product(dim for dim in result if dim is not None)
    if len(unknown) == 1:
        # elements are neither lost nor made, so the one unknown size follows from the others
        result[unknown[0]] = exact_divide(total, rest)
    elif not unknown and isinstance(total, int) and isinstance(rest, int) and total != rest:
        raise Contradiction(f"{total} elements reshaped to {rest}")
    return tuple(result)


def _sure(dim: Dimension) -> Dim:
    """A size in a Reshape target: one that might be negative could mean -1."""
    return dim if isinstance(dim, int) else non_negative(dim)


@types("Transpose")
def transpose(call: Call) -> list[Typed]:
    """Axes in another order; reversed by default."""
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), None)]
    order = call.numbers("perm") or tuple(reversed(range(len(data))))
    if sorted(order) != list(range(len(data))):
        raise Contradiction(f"perm {list(order)} of a tensor of rank {len(data)}")
    return [(call.dtype(0), tuple(data[axis] for axis in order))]


@types("Concat")
def concat(call: Call) -> list[Typed]:
    """Sizes add up along one axis and agree along the others."""
    shapes = [call.shape(index) for index in range(len(call.inputs))]
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return [(call.dtype(0), None)]
    rank = len(known[0])
    axis = axis_in(call.number("axis", 1), rank)
    if any(len(shape) != rank for shape in known):
        raise Contradiction("tensors of different rank are joined")
    result: list[Dim] = list(known[0])
    for shape in known[1:]:
        pairs = enumerate(zip(result, shape, strict=True))
        result = [left if place == axis else same(left, right) for place, (left, right) in pairs]
    total: Dim = 0
    for shape in known:
        total = total + shape[axis]
    result[axis] = total if len(known) == len(shapes) else None
    return [(call.dtype(0), tuple(result))]


@types("Split")
def split(call: Call) -> list[Typed]:
    """Parts of given sizes, or equal parts; with num_outputs the last may be smaller."""
    data, count = call.shape(0), len(call.node.outputs)
    if data is None:
        return [(call.dtype(0), None)] * count
    axis = axis_in(call.number("axis", 0), len(data))
    return [
        (call.dtype(0), (*data[:axis], part, *data[axis + 1 :]))
        for part in split_sizes(call, data[axis], count)
    ]


def split_sizes(call: Call, dim: Dimension, count: int) -> Sequence[Dim]:
    """The size of each part of a Split."""
    parts: Sequence[Dim] | None = call.numbers("split")
    if parts is None and call.has(1):
        parts = call.elements(1) if call.opset >= 13 else None
        if parts is None:
            return (None,) * count
    if parts is not None:
        if len(parts) != count:
            raise Contradiction(f"{len(parts)} sizes for {count} parts")
        return parts
    if isinstance(dim, int) and dim % count:
        whole = -(-dim // count)
        last = dim - whole * (count - 1)
        if call.opset < 18 or last < 0:
            raise Contradiction(f"{dim} split into {count} equal parts")
        return (*(whole,) * (count - 1), last)
    return (exact_divide(dim, count),) * count


@types("Squeeze")
def squeeze(call: Call) -> list[Typed]:
    """Remove axes of size 1: those given, else all of them."""
    data = call.shape(0)
    axes = None if data is None else call.axes("axes", 1, len(data))
    if data is None or axes is None:
        return [(call.dtype(0), None)]
    if not axes:
        if not all(isinstance(dim, int) for dim in data):
            return [(call.dtype(0), None)]
        axes = tuple(axis for axis, dim in enumerate(data) if dim == 1)
    for axis in axes:
        same(data[axis], 1)
    return [(call.dtype(0), tuple(dim for axis, dim in enumerate(data) if axis not in axes))]


@types("Unsqueeze")
def unsqueeze(call: Call) -> list[Typed]:
    """Insert axes of size 1, counted in the result."""
    data = call.shape(0)
    given = call.numbers("axes") or call.integers(1)
    if data is None or given is None:
        return [(call.dtype(0), None)]
    rank = len(data) + len(given)
    axes = {axis_in(axis, rank) for axis in given}
    if len(axes) != len(given):
        raise Contradiction("the same axis is inserted twice")
    rest = iter(data)
    return [(call.dtype(0), tuple(1 if axis in axes else next(rest) for axis in range(rank)))]


@types("Flatten")
def flatten(call: Call) -> list[Typed]:
    """Two axes: everything before `axis`, everything from it on."""
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), (None, None))]
    axis = call.number("axis", 1)
    axis = axis + len(data) if axis < 0 else axis
    return [(call.dtype(0), (product(data[:axis]), product(data[axis:])))]


@types("Expand")
def expand(call: Call) -> list[Typed]:
    """The data broadcast to the given sizes."""
    target = call.elements(1)
    return [(call.dtype(0), broadcast(call.shape(0), target) if target is not None else None)]


@types("Tile")
def tile(call: Call) -> list[Typed]:
    """Each axis repeated."""
    data, repeats = call.shape(0), call.elements(1)
    if data is None or repeats is None or len(data) != len(repeats):
        return [(call.dtype(0), None if data is None else (None,) * len(data))]
    sizes = tuple(
        None if times is None else dim * times for dim, times in zip(data, repeats, strict=True)
    )
    return [(call.dtype(0), sizes)]


@types("Pad")
def pad(call: Call) -> list[Typed]:
    """Sizes grow by what is put before and after; negative pads crop."""
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), None)]
    pads = call.numbers("pads") or call.numbers("paddings") or call.elements(1)
    axes = tuple(range(len(data)))
    if call.has(3):
        given = call.integers(3)
        pads, axes = (None, axes) if given is None else (pads, given)
    if pads is None or len(pads) != 2 * len(axes):
        return [(call.dtype(0), (None,) * len(data))]
    sizes: list[Dim] = list(data)
    for position, axis in enumerate(axes):
        before, after = pads[position], pads[position + len(axes)]
        place = axis_in(axis, len(data))
        if before is None or after is None:
            sizes[place] = None
        else:
            sizes[place] = data[place] + before + after
    return [(call.dtype(0), tuple(sizes))]


@types("DepthToSpace")
def depth_to_space(call: Call) -> list[Typed]:
    """[N, C, H, W] to [N, C/b², H*b, W*b]."""
    data, block = call.shape(0), call.number("blocksize", 0)
    if data is None or len(data) != 4 or block < 1:
        return [(call.dtype(0), (None,) * 4)]
    depth = exact_divide(data[1], block * block)
    return [(call.dtype(0), (data[0], depth, data[2] * block, data[3] * block))]


@types("SpaceToDepth")
def space_to_depth(call: Call) -> list[Typed]:
    """[N, C, H, W] to [N, C*b², H/b, W/b]."""
    data, block = call.shape(0), call.number("blocksize", 0)
    if data is None or len(data) != 4 or block < 1:
        return [(call.dtype(0), (None,) * 4)]
    height, width = exact_divide(data[2], block), exact_divide(data[3], block)
    return [(call.dtype(0), (data[0], data[1] * (block * block), height, width))]


@types("Resize", "Upsample")
def resize(call: Call) -> list[Typed]:
    """Given sizes, or floor(size * scale)."""
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), None)]
    if (
        "axes" in call.node.attributes
        or call.text("keep_aspect_ratio_policy", "stretch") != "stretch"
    ):
        return [(call.dtype(0), (None,) * len(data))]
    sizes = call.elements(3)
    if sizes is not None and len(sizes) == len(data):
        return [(call.dtype(0), sizes)]
    if call.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        return [(call.dtype(0), (None,) * len(data))]
    modern = call.node.op_type == "Resize" and call.opset >= 11
    return [(call.dtype(0), _scaled(data, _scales(call, index=2 if modern else 1)))]


def _scales(call: Call, *, index: int) -> Sequence[float] | None:
    attribute = call.node.attributes.get("scales")
    if attribute is not None:
        return attribute.as_floats()
    constant = call.constant(index)
    return None if constant is None else [float(scale) for scale in constant.ravel()]


def _scaled(data: _Known, scales: Sequence[float] | None) -> Shape:
    if scales is None or len(scales) != len(data):
        return (None,) * len(data)
    return tuple(_times(dim, scale) for dim, scale in zip(data, scales, strict=True))


def _times(dim: Dimension, scale: float) -> Dim:
    if float(scale).is_integer():
        return dim * int(scale)
    if not isinstance(dim, int) or dim > 1 << 20:
        return None
    return int(np.float32(scale) * np.float32(dim))  # the runtime multiplies in float32, too
