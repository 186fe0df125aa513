"""Transposed convolutions as convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimizer.passes.draft import TO_THE_END, NotHere, array_of, dims_of, only_one_free
from optimizer.passes.lowering.lowering import Lowering, extra_bytes, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement


@register
class WriteConvTransposeAsConv(Pass):
    """Write ConvTranspose as Conv.

    What it does:
        Zeros are put between the pixels where it strides, and around them; then it is a convolution
        with its weights turned round, inputs and outputs of a group exchanged. Where the device has
        no Conv either, `write-conv-as-matmul` goes on.
    Before:
        ConvTranspose
    After:
        Unsqueeze → Pad → Reshape → Conv
    When it is safe:
        Its weights are constant; where it strides, no more than one size is free. Beside one that
        is, a batch that is free too is not empty when it runs: Reshape could not tell the size.
    Numerics:
        The same products, and products with 0, added in another order.
    Source:
        Dumoulin, Visin 2016, A guide to convolution arithmetic for deep learning, chapter 4.
    """

    id = "write-conv-transpose-as-conv"
    exactness = "reassociates"
    order = 30

    profile: str = "matrix-engine"

    @lowers("ConvTranspose", name="PixelsApart")
    def match(self, lowering: Lowering) -> Replacement:
        """One transposed convolution of any rank."""
        dims, weights = dims_of(lowering.input(0)), array_of(lowering.input(1))
        spatial = len(dims) - 2
        if spatial < 1 or weights.ndim != len(dims):
            raise NotHere("its weights and its input have other numbers of axes")
        group = int(lowering.of("group") or 1)
        strides = lowering.numbers("strides", spatial, 1)
        dilations = lowering.numbers("dilations", spatial, 1)
        begins, ends = _around(lowering, weights.shape[2:], strides, dilations)
        image = _apart(lowering, dims, strides)
        # What was put behind the last pixels of a row is part of what goes around them.
        ends = [end - (stride - 1) for end, stride in zip(ends, strides, strict=True)]
        image = _cropped(lowering, image, begins, ends)
        pads = [max(pad, 0) for pad in (*begins, *ends)]
        inner, outer, *kernel = weights.shape
        turned = np.flip(weights, axis=tuple(range(2, weights.ndim)))
        turned = turned.reshape(group, inner // group, outer, *kernel).swapaxes(1, 2)
        weight = lowering.weight(turned.reshape(group * outer, inner // group, *kernel))
        bias = lowering.optional_input(2)
        operands = (image, weight) if bias is None else (image, weight, bias)
        made = lowering.new(
            "Conv", *operands, pads=pads, dilations=[*dilations], group=group, kernel_shape=kernel
        )
        share = float(np.prod(strides))
        more = f": {extra_bytes(lowering.input(0), share)}" if share > 1 else ""
        return lowering.put(
            made, f"It is a convolution of its pixels with zeros between them{more}."
        )


def _around(
    lowering: Lowering, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Zeros around the pixels, at the beginning and at the end of each axis; negative ones cut.

    Raises:
        NotHere: its size is given, and those of the input are free.
    """
    spatial = len(kernel)
    extra = lowering.numbers("output_padding", spatial, 0)
    reaches = [d * (k - 1) for k, d in zip(kernel, dilations, strict=True)]
    shape = lowering.context.integers(lowering.node, "output_shape")
    mode = lowering.text("auto_pad", "NOTSET")
    if shape:
        sizes = dims_of(lowering.input(0))[2:]
        if None in sizes:
            raise NotHere("its size is given, and one of its input's is free in the file")
        whole = [
            s * ((n or 0) - 1) + r + 1 for s, n, r in zip(strides, sizes, reaches, strict=True)
        ]
        over = [w + e - n for w, e, n in zip(whole, extra, shape[-spatial:], strict=True)]
    elif mode in ("SAME_UPPER", "SAME_LOWER"):
        over = [r + 1 + e - s for r, e, s in zip(reaches, extra, strides, strict=True)]
    else:
        pads = (0,) * 2 * spatial if mode == "VALID" else lowering.numbers("pads", 2 * spatial, 0)
        begins = [r - p for r, p in zip(reaches, pads[:spatial], strict=True)]
        tails = [r - p for r, p in zip(reaches, pads[spatial:], strict=True)]
        return begins, [t + e for t, e in zip(tails, extra, strict=True)]
    if min(over) < 0:
        raise NotHere("it is padded by less than nothing")
    upper = mode == "SAME_UPPER"
    heads = [total // 2 if upper else total - total // 2 for total in over]
    begins = [r - h for r, h in zip(reaches, heads, strict=True)]
    tails = [r - (t - h) + e for r, t, h, e in zip(reaches, over, heads, extra, strict=True)]
    return begins, tails


def _apart(lowering: Lowering, dims: Sequence[int | None], strides: Sequence[int]) -> Operand:
    """The image with zeros behind every pixel, up to the next one."""
    image: Operand = lowering.input(0)
    if max(strides) == 1:
        return image
    spatial = len(strides)
    behind = [3 + 2 * axis for axis in range(spatial)]
    pads = [0] * (2 * (2 + 2 * spatial))
    for axis, stride in zip(behind, strides, strict=True):
        pads[2 + 2 * spatial + axis] = stride - 1
    wide = lowering.pad(lowering.unsqueeze(image, *behind), pads)
    sizes = [None if n is None else n * s for n, s in zip(dims[2:], strides, strict=True)]
    return lowering.reshape(wide, 0, 0, *only_one_free(*sizes))


def _cropped(
    lowering: Lowering, image: Operand, begins: Sequence[int], ends: Sequence[int]
) -> Operand:
    """The image without the rows that negative padding takes away."""
    if min(*begins, *ends) >= 0:
        return image
    starts = [-min(begin, 0) for begin in begins]
    stops = [end if end < 0 else TO_THE_END for end in ends]
    return lowering.slice(image, range(2, 2 + len(begins)), starts, stops)
