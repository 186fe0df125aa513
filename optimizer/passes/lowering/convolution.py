"""Convolutions as matrix products."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import TO_THE_END, NotHere, dims_of, only_one_free
from optimizer.passes.lowering.lowering import Lowering, extra_bytes, lowers
from optimizer.passes.lowering.windows import Windows, padded, unfolded, windows_of
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

_POINTWISE = "A 1×1 convolution is a product of its weights with the pixels, channel by channel."
_WINDOWS = "Its windows become the columns of a matrix"


@register
class WriteConvAsMatmul(Pass):
    """Write Conv as MatMul.

    What it does:
        A convolution is a matrix product of its weights with the windows of its input (im2col).
        Slices cut a place of every window out, a Concat lays the places side by side; windows
        that do not overlap are cut out by one Transpose; a 1×1 kernel needs neither. With
        `pointwise` only those are written so.
    Before:
        Conv
    After:
        Pad → Slice … → Concat → Reshape → MatMul → Add → Reshape
    When it is safe:
        The sizes of its weights are known. Groups, strides, dilations and padding are free;
        padding by `auto_pad`, with strides, and groups of several channels need sizes in the file.
        A batch that is free in the file is not empty when it runs: ONNX Runtime's MatMul takes no
        empty batch beside a matrix.
    Numerics:
        The same products, added in another order.
    Source:
        Chellapilla et al. 2006, High performance convolutional neural networks for document
        processing (im2col).
    """

    id = "write-conv-as-matmul"
    exactness = "reassociates"

    profile: str = "matrix-engine"
    pointwise: bool = False

    @lowers("Conv", name="ConvAsProduct")
    def match(self, lowering: Lowering) -> Replacement:
        """One convolution."""
        kernel = _kernel(lowering)
        windows = windows_of(lowering, kernel[2:])
        group = int(lowering.of("group") or 1)
        simple = math.prod(windows.kernel) == 1 and not windows.padded
        if self.pointwise and not (simple and group == 1):
            raise NotHere("only a 1×1 convolution without groups or padding is a plain product")
        columns, order, spatial = _columns(lowering, windows, kernel, group)
        result = _product(lowering, columns, kernel, group, order)
        result = _in_image(lowering, result, spatial, kernel[0])
        why = _POINTWISE if simple else f"{_WINDOWS}: {_extra(lowering, windows)}."
        return lowering.put(result, why)


def _kernel(lowering: Lowering) -> tuple[int, ...]:
    """The shape of the weights: outputs, inputs of a group, places.

    Raises:
        NotHere: a size is not known.
    """
    dims = dims_of(lowering.input(1))
    known = tuple(dim for dim in dims if dim is not None)
    if len(known) < len(dims) or len(dims) < 3:
        raise NotHere("the sizes of its weights are not known")
    return known


def _columns(
    lowering: Lowering, windows: Windows, kernel: tuple[int, ...], group: int
) -> tuple[Operand, tuple[int, ...], Operand | None]:
    """Windows as columns: [N, places · channels, windows], with groups [N, group, …, windows].

    Returns: the matrix, the order of places before channels (empty where channels come first),
    and the image whose last axes count the windows where their sizes are not all known.
    """
    channels = kernel[1]
    rows = channels * math.prod(windows.kernel)
    if windows.apart and group == 1 and math.prod(windows.kernel) > 1:
        return _tiles(lowering, windows, rows, channels), (), None
    image = padded(lowering, windows)
    if group > 1:
        image = _grouped(lowering, image, windows, group, channels)
    channel = 1 if group == 1 else 2
    image, order = unfolded(lowering, image, windows, channel=channel, channels=channels)
    target = (0, rows, -1) if group == 1 else (0, group, rows, -1)
    free = sum(count is None for count in dims_of(lowering.node.outputs[0])[2:]) > 1
    return lowering.reshape(image, *target), order, image if free else None


def _tiles(lowering: Lowering, windows: Windows, rows: int, channels: int) -> Operand:
    """Windows side by side: a reshape cuts them, a transpose brings their places together."""
    spatial = len(windows.kernel)
    cuts = [n for pair in zip(windows.counts, windows.kernel, strict=True) for n in pair]
    tiles = lowering.reshape(lowering.input(0), 0, channels, *only_one_free(*cuts))
    places = [3 + 2 * axis for axis in range(spatial)]
    perm = [0, 1, *places, *(place - 1 for place in places)]
    tiles = lowering.new("Transpose", tiles, perm=perm)
    return lowering.reshape(tiles, 0, rows, -1)


def _grouped(
    lowering: Lowering, image: Operand, windows: Windows, group: int, channels: int
) -> Operand:
    """The image with an axis of groups before that of channels."""
    if channels == 1:
        return lowering.unsqueeze(image, 2)
    return lowering.reshape(image, 0, group, channels, *only_one_free(*windows.padded_sizes))


def _product(
    lowering: Lowering,
    columns: Operand,
    kernel: tuple[int, ...],
    group: int,
    order: tuple[int, ...],
) -> Operand:
    """Weights times columns, plus the bias of every channel."""
    outputs, rows = kernel[0] // group, math.prod(kernel[1:])
    shape = (outputs, rows) if group == 1 else (group, outputs, rows)
    perm = (0, *(2 + axis for axis in order), 1) if order else tuple(range(len(kernel)))
    result: Operand = lowering.new("MatMul", _weights(lowering, perm, shape), columns)
    bias = lowering.optional_input(2)
    if bias is None:
        return result
    spread = (*shape[:-1], 1)
    known = lowering.constant(bias)
    if known is None:
        return lowering.new("Add", result, lowering.reshape(bias, *spread))
    return lowering.new("Add", result, lowering.weight(known.reshape(spread)))


def _weights(lowering: Lowering, perm: tuple[int, ...], shape: tuple[int, ...]) -> Operand:
    weight = lowering.input(1)
    known = lowering.constant(weight)
    if known is not None:
        return lowering.weight(np.transpose(known, perm).reshape(shape))
    moved = weight if perm == tuple(sorted(perm)) else lowering.new("Transpose", weight, perm=perm)
    return lowering.reshape(moved, *shape)


def _in_image(lowering: Lowering, result: Operand, image: Operand | None, channels: int) -> Operand:
    """The product with its spatial axes apart again."""
    made = dims_of(lowering.node.outputs[0])[2:]
    if image is None:
        return lowering.reshape(result, 0, channels, *only_one_free(*made))
    # More than one size is free: they are those of the image that was unfolded.
    sizes = lowering.slice(lowering.new("Shape", image), [0], [-len(made)], [TO_THE_END])
    target = lowering.new("Concat", lowering.integers(0, channels), sizes, axis=0)
    return lowering.new("Reshape", result, target)


def _extra(lowering: Lowering, windows: Windows) -> str:
    image: ir.Value = lowering.input(0)
    counts: tuple[int | None, ...] = windows.counts
    places = math.prod(windows.kernel)
    pairs = list(zip(counts, windows.sizes, strict=True))
    if all(size is not None and count is not None for count, size in pairs):
        share = math.prod((count or 0) / (size or 1) for count, size in pairs)
    else:
        share = 1 / math.prod(windows.strides)
    return extra_bytes(image, places * share)
