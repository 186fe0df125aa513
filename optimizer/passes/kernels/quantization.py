"""Weights as few-bit integers. Source: Jacob et al. 2018, eq. 1, with a zero point of 0."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.passes.draft import MICROSOFT, Floats, attributes_of, floats_of
from optimizer.passes.kernels.products import PRODUCTS, product_of, with_bias
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.registry import Pass, register
from optimizer.rules import Replacement

_MOST = 127
_BITS = 4
_BLOCK = 32
_AS_INT8 = 4


@register
class QuantizeConvDynamically(Pass):
    """Compute Conv in 8-bit integers.

    What it does:
        Weights are stored as int8 with a scale a channel; the input is quantized anew in every
        run; products are of integers.
    Before:
        Conv
    After:
        DynamicQuantizeLinear → ConvInteger → Cast → Mul
    When it is safe:
        The weights are constant float32. What is lost has to be worth it: no accuracy is promised.
    Numerics:
        8 bits: about 1 % of the largest result.
    Source:
        Jacob et al. 2018, eq. 1.
    """

    id = "quantize-conv-dynamically"
    exactness = "lossy"

    @rewrites("Conv", name="DynamicConv")
    def match(self, site: Site) -> Replacement:
        """The convolution; what follows it stays."""
        node = site.block.nodes[0]
        weight = floats_of(node.inputs[1])
        rows, scales = quantized_rows(weight.reshape(weight.shape[0], -1))
        pixels, scale, zero = site.news("DynamicQuantizeLinear", node.inputs[0], count=3)
        product = site.new(
            "ConvInteger",
            pixels,
            site.weight(rows.reshape(weight.shape)),
            zero,
            **attributes_of(node),
        )
        spread = (1, -1, *(1,) * (weight.ndim - 2))
        result = site.new("Cast", product, to=int(ir.DataType.FLOAT))
        both = site.new("Mul", scale, site.weight(scales.reshape(spread)))
        result = site.new("Mul", result, both)
        if len(node.inputs) > 2 and node.inputs[2] is not None:
            result = site.new("Add", result, site.weight(floats_of(node.inputs[2]).reshape(spread)))
        why = "Its weights are constant: int8 with a scale a channel; its input is quantized anew."
        return site.put([node], result, why)


@register
class QuantizeMatmulDynamically(Pass):
    """Compute MatMul in 8-bit integers.

    What it does:
        Weights are stored as int8 with a scale a column; rows are quantized anew in every run.
    Before:
        MatMul → Add
    After:
        com.microsoft.DynamicQuantizeMatMul
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too. What is lost has to be
        worth it: no accuracy is promised.
    Numerics:
        8 bits: about 1 % of the largest result.
    Source:
        Jacob et al. 2018, eq. 1; ONNX Runtime contrib operators.
    """

    id = "quantize-matmul-dynamically"
    exactness = "lossy"

    @rewrites(*PRODUCTS, name="DynamicProduct")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        product = product_of(site)
        columns, scales = quantized_rows(product.weight.T)
        zeros = site.weight(np.zeros(len(scales), np.int8))
        result = site.new(
            "DynamicQuantizeMatMul",
            product.rows,
            site.weight(columns.T),
            site.weight(scales),
            zeros,
            *site.optional(product.bias),
            domain=MICROSOFT,
        )
        why = "Its weights are constant: int8 with a scale a column; its rows are quantized anew."
        return site.put(product.nodes, result, why)


@register
class StoreWeightsIn4Bits(Pass):
    """Store the weights of MatMul in 4 bits.

    What it does:
        Weights are stored in 4 bits with a scale every 32; products are in int8.
    Before:
        MatMul → Add
    After:
        com.microsoft.MatMulNBits → Add
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too. What is lost has to be
        worth it: no accuracy is promised.
    Numerics:
        4 bits: about 10 % of the largest result.
    Source:
        ONNX Runtime contrib operators, MatMulNBits.
    """

    id = "store-weights-in-4-bits"
    exactness = "lossy"

    @rewrites(*PRODUCTS, name="FourBitProduct")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        product = product_of(site)
        inner, columns = product.weight.shape
        packed, scales = packed_4_bit(product.weight.T, block=_BLOCK)
        result = site.new(
            "MatMulNBits",
            product.rows,
            site.weight(packed),
            site.weight(scales),
            domain=MICROSOFT,
            K=inner,
            N=columns,
            bits=_BITS,
            block_size=_BLOCK,
            accuracy_level=_AS_INT8,
        )
        why = "Its weights are constant: 4 bits each, with a scale every 32."
        return site.put(product.nodes, with_bias(site, result, product.bias), why)


def quantized_rows(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """`weight` row by row as `int8 * scale`.

    Args:
        weight: float32[rows, columns].

    Returns:
        int8[rows, columns] and float32[rows].
    """
    scales = np.abs(weight).max(axis=1) / _MOST
    scales = np.where(scales > 0, scales, 1.0).astype(np.float32)
    return np.rint(weight / scales[:, None]).astype(np.int8), scales


def packed_4_bit(weight: Floats, *, block: int) -> tuple[NDArray[np.uint8], Floats]:
    """`weight` in blocks of a row as `(uint4 - 8) * scale`, two numbers a byte, low half first.

    Args:
        weight: float32[rows, columns]; columns are filled up with zeros to whole blocks.
        block: columns that share a scale.

    Returns:
        uint8[rows, blocks, block / 2] and float32[rows * blocks].
    """
    rows, columns = weight.shape
    padded = np.pad(weight, ((0, 0), (0, -columns % block)))
    blocks = padded.reshape(rows, -1, block)
    scales = np.abs(blocks).max(axis=2) / 7
    scales = np.where(scales > 0, scales, 1.0).astype(np.float32)
    numbers = (np.clip(np.rint(blocks / scales[:, :, None]), -8, 7) + 8).astype(np.uint8)
    packed = numbers[:, :, 0::2] | (numbers[:, :, 1::2] << np.uint8(4))
    return packed.astype(np.uint8), scales.reshape(-1)
