"""Operators that move data without computing: joining, splitting, repeating, resizing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from optimizer.dimension import Dimension, at_least, exact_divide, floor_divide
from optimizer.operators import contents, flops, kernels
from optimizer.operators.broadcasting import broadcast, like_first, non_negative, same
from optimizer.operators.call import Call, Contradiction, Dim, Shape, Typed, axis_in
from optimizer.operators.loops import resizing, views
from optimizer.operators.operands import slice_bounds, split_sizes
from optimizer.operators.operator import Operator, OperatorClass
from optimizer.operators.reference import reference

_Known = tuple[Dimension, ...]
_FAR = 2**31 - 1
"""Bounds of a Slice from here on mean "to the end", whatever the size."""
_MOST_BYTES = 1 << 48
"""What no process can address: a tensor is smaller."""


def transpose(call: Call) -> list[Typed]:
    """Axes in another order; reversed by default."""
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), None)]
    order = call.numbers("perm") or tuple(reversed(range(len(data))))
    if sorted(order) != list(range(len(data))):
        raise Contradiction(f"perm {list(order)} of a tensor of rank {len(data)}")
    return [(call.dtype(0), tuple(data[axis] for axis in order))]


def concat(call: Call) -> list[Typed]:
    """Sizes add up along one axis and agree along the others."""
    shapes = [call.shape(index) for index in call.inputs]
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


def expand(call: Call) -> list[Typed]:
    """The data broadcast to the given sizes."""
    target = call.elements(1)
    return [(call.dtype(0), broadcast(call.shape(0), target) if target is not None else None)]


def tile(call: Call) -> list[Typed]:
    """Each axis repeated."""
    data, repeats = call.shape(0), call.elements(1)
    if data is None or repeats is None or len(data) != len(repeats):
        return [(call.dtype(0), None if data is None else (None,) * len(data))]
    sizes = tuple(
        None if times is None else dim * times for dim, times in zip(data, repeats, strict=True)
    )
    return [(call.dtype(0), sizes)]


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


def depth_to_space(call: Call) -> list[Typed]:
    """[N, C, H, W] to [N, C/b², H*b, W*b]."""
    data, block = call.shape(0), call.number("blocksize", 0)
    if data is None or len(data) != 4 or block < 1:
        return [(call.dtype(0), (None,) * 4)]
    depth = exact_divide(data[1], block * block)
    return [(call.dtype(0), (data[0], depth, data[2] * block, data[3] * block))]


def space_to_depth(call: Call) -> list[Typed]:
    """[N, C, H, W] to [N, C*b², H/b, W/b]."""
    data, block = call.shape(0), call.number("blocksize", 0)
    if data is None or len(data) != 4 or block < 1:
        return [(call.dtype(0), (None,) * 4)]
    height, width = exact_divide(data[2], block), exact_divide(data[3], block)
    return [(call.dtype(0), (data[0], data[1] * (block * block), height, width))]


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


def grid_sample(call: Call) -> list[Typed]:
    """X[N, C, …], grid[N, out…, axes]: Y[N, C, out…]."""
    data, grid = call.shape(0), call.shape(1)
    if data is None or grid is None or len(grid) != len(data):
        return [(call.dtype(0), None)]
    return [(call.dtype(0), (*data[:2], *grid[1:-1]))]


def slice_(call: Call) -> list[Typed]:
    """A range along some axes; bounds beyond the tensor are clamped to it.

    Assumption (`Call.slices_fit`): a symbolic bound lies inside an axis of known size, as a
    position table is cut to the length of a sequence, and so does a bound counted from the end.
    A model that runs at all with other sizes would have to rely on the clamping of a bound.
    """
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), None)]
    bounds = slice_bounds(call, len(data))
    if bounds is None:
        return [(call.dtype(0), (None,) * len(data))]
    result: list[Dim] = list(data)
    for axis, (start, end, step) in bounds.items():
        if isinstance(end, int) and end > _most(call, axis):
            end = _FAR
        result[axis] = _slice_length(data[axis], (start, end, step), fits=call.slices_fit)
    return [(call.dtype(0), tuple(result))]


def _most(call: Call, axis: int) -> int:
    """The largest that an axis of the first input can be: a whole tensor has to fit in memory.

    Axes of the same unknown size, as a causal mask has, are of it together. tf2onnx writes
    1,000,000,000 for "to the end".
    """
    data, dtype = call.shape(0) or (), call.dtype(0)
    alike = max(sum(size == data[axis] for size in data), 1)
    known = prod(size for size in data if isinstance(size, int) and size != data[axis])
    bytes_each = known * (1 if dtype is None else max(int(dtype.itemsize), 1))
    return int((_MOST_BYTES // bytes_each) ** (1 / alike)) + 1 if bytes_each else _FAR


def _slice_length(dim: Dimension, bounds: tuple[Dim, Dim, Dim], *, fits: bool) -> Dim:
    start, end, step = bounds
    if start is None or end is None or not isinstance(step, int):
        return None
    if step == 0:
        raise Contradiction("a Slice with step 0")
    if isinstance(dim, int) and isinstance(start, int) and isinstance(end, int):
        return len(range(*slice(start, _end(end, step), step).indices(dim)))
    if step == -1 and start == -1 and isinstance(end, int) and end <= -_FAR:
        return dim  # reversed
    if step < 0 or dim in (0, 1):  # a size that broadcasts: a symbolic bound may well lie beyond
        return None
    low, high = _bound(dim, start, fits=fits), _bound(dim, end, fits=fits)
    if low is None or high is None or not at_least(high, low):
        return None
    return -floor_divide(low - high, step)


def _end(end: int, step: int) -> int | None:
    return None if step < 0 and end <= -_FAR else end


def _bound(dim: Dimension, bound: Dimension, *, fits: bool) -> Dim:
    """Where a bound really lies in [0, dim], or None."""
    if isinstance(bound, int):
        if bound == 0 or bound <= -_FAR:
            return 0
        if bound >= _FAR:
            return dim
        if isinstance(dim, int):
            return min(max(bound + dim if bound < 0 else bound, 0), dim)
        if bound < 0:
            return dim + bound if fits or at_least(dim, -bound) else None
        return bound if at_least(dim, bound) else None
    if non_negative(bound) is None:
        return None
    if at_least(dim, bound):
        return bound
    if at_least(bound, dim):
        return dim
    return bound if fits and isinstance(dim, int) else None


def transpose_class(call: Call) -> OperatorClass | None:
    """Whether the innermost axis stays, so that whole blocks move."""
    shape = call.sizes(0)
    if shape is None:
        return None
    given = call.numbers("perm")
    order = axes_in_order(range(len(shape))[::-1] if given is None else given, shape)
    stays = not order or order[-1] == max(order)
    return OperatorClass.BLOCK_TRANSPOSE if stays else OperatorClass.TRANSPOSE


def axes_in_order(permutation: Iterable[int], shape: tuple[int, ...]) -> list[int]:
    """The axes of a Transpose's input as its output has them, without those of size 1."""
    return [axis for axis in permutation if axis < len(shape) and shape[axis] != 1]


_COPY = Operator(
    category="shape", flops=flops.moving, kind=OperatorClass.COPY, carries=True, any_type=True,
    layout="follows", precision="safe",
)  # fmt: skip
_BLOCKS = Operator(
    category="shape",
    flops=flops.moving,
    kind=OperatorClass.TRANSPOSE,
    layout="sensitive",
    axes="NC* -> NC*",
    precision="safe",
)
_RESIZE = Operator(
    types=resize, category="shape", flops=flops.resize, layout="follows", precision="safe"
)

OPERATORS = (
    _COPY.named(
        "Concat", types=concat, **contents.moved(kernels.concat), integer="computes",
        loops=views.concatenated,
    ),
    _COPY.named(
        "Split", loops=views.split, types=split, **contents.moved(kernels.split),
        picks=True, shape_inputs=(1,),
    ),
    _COPY.named(
        "Slice", loops=views.sliced, types=slice_, **contents.moved(kernels.slice_),
        picks=True, shape_inputs=(1, 2, 3, 4), integer="keeps",
    ),
    _COPY.named(
        "Expand", types=expand, contents=contents.rearranged, kernel=kernels.expand,
        loops=views.expanded,
        shape_inputs=(1,),
    ),
    _COPY.named(
        "Tile", loops=views.tiled, types=tile, **contents.moved(kernels.tile),
        shape_inputs=(1,),
    ),
    _COPY.named(
        "Pad", loops=views.padded, types=pad, kernel=kernels.pad, any_type=False, shape_inputs=(1,)
    ),
    _COPY.named(
        "Trilu", loops=views.triangle, types=like_first, category="shape", kernel=reference,
        any_type=False, carries=False, shape_inputs=(1,), layout="sensitive",
    ),
    _COPY.named(
        "Transpose", types=transpose, **contents.moved(kernels.transpose), kind=transpose_class,
        loops=views.transposed,
        integer="keeps",
    ),
    _BLOCKS.named("DepthToSpace", types=depth_to_space),
    _BLOCKS.named("SpaceToDepth", types=space_to_depth),
    _RESIZE.named("Resize", loops=resizing.enlarged, shape_inputs=(2, 3)),
    _RESIZE.named("Upsample", shape_inputs=(1,)),
    Operator(
        "GridSample", grid_sample, category="shape", layout="sensitive", axes="NC* -> NC*",
        precision="safe",
    ),
    *Operator(category="shape", layout="sensitive", decided_by=(1,)).each(
        "AffineGrid CenterCropPad Col2Im"
    ),
    *Operator(domain="com.microsoft.nchwc", category="shape").each("ReorderInput ReorderOutput"),
)  # fmt: skip
