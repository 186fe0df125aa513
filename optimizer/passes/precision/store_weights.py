"""Weights in few bits, products in float: for size, and for products of few rows."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import MICROSOFT
from optimizer.passes.kernels.products import PRODUCTS, Product, product_of, with_bias
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.passes.precision.pairs import PER_CHANNEL_SINCE
from optimizer.precision.quantization import packed_blocks, quantized_blocks, quantized_rows
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
)

_AS_INT8 = 4
"""The accuracy level of MatMulNBits at which rows are quantized to int8 for the product."""
_BLOCKS_SINCE = 21
"""The operator set since which DequantizeLinear takes blocks, and 4 bits."""


@register
class StoreWeightsIn4Bits(Pass):
    """Store the weights of MatMul in 4 bits.

    What it does:
        Weights are stored in 4 bits with a scale every `block_size`; products are in int8. With
        `standard` it is DequantizeLinear with blocks, which takes opset 21 and has products in
        float32.
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
        ONNX Runtime contrib operators, MatMulNBits; ONNX operator specification, DequantizeLinear.
    """

    id = "store-weights-in-4-bits"
    exactness = "lossy"
    global_analysis = True

    block_size: int = 32
    standard: bool = False

    @rewrites(*PRODUCTS, name="FourBitProduct")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        product = product_of(site)
        if self.standard:
            result = _of_blocks(site, product, self.block_size)
        else:
            result = _of_bits(site, product, bits=4, block=self.block_size)
        why = f"Its weights are constant: 4 bits each, with a scale every {self.block_size}."
        return site.put(product.nodes, with_bias(site, result, product.bias), why)


@register
class StoreWeightsIn8Bits(Pass):
    """Store the weights of MatMul in 8 bits.

    What it does:
        Weights are stored in 8 bits with a scale every `block_size`; products are in int8. With
        `standard` it is DequantizeLinear with a scale a column, which takes opset 13 and has
        products in float32.
    Before:
        MatMul → Add
    After:
        com.microsoft.MatMulNBits → Add
    When it is safe:
        The weights are a constant float32 matrix; a bias is constant, too. What is lost has to be
        worth it: no accuracy is promised.
    Numerics:
        8 bits: about 1 % of the largest result.
    Source:
        ONNX Runtime contrib operators, MatMulNBits; ONNX operator specification, DequantizeLinear.
    """

    id = "store-weights-in-8-bits"
    exactness = "lossy"
    global_analysis = True

    block_size: int = 32
    standard: bool = False

    @rewrites(*PRODUCTS, name="EightBitProduct")
    def match(self, site: Site) -> Replacement:
        """The product, and the Add after it."""
        product = product_of(site)
        if self.standard:
            site.needs(PER_CHANNEL_SINCE, "A scale a column")
            columns, scales = quantized_rows(product.weight.T)
            weight = site.new(
                "DequantizeLinear", site.weight(columns.T), site.weight(scales), axis=1
            )
            result = site.new("MatMul", product.rows, weight)
        else:
            result = _of_bits(site, product, bits=8, block=self.block_size)
        each = "column" if self.standard else f"block of {self.block_size}"
        why = f"Its weights are constant: 8 bits each, with a scale a {each}."
        return site.put(product.nodes, with_bias(site, result, product.bias), why)


@register
class StoreEmbeddingsIn8Bits(Pass):
    """Store tables of embeddings in 8 bits.

    What it does:
        A table whose rows are picked by Gather is stored as int8 with a scale a row; the rows
        picked, and their scales, are multiplied.
    Before:
        Gather(table, index)
    After:
        Gather(int8 table, index) → Cast → Mul(Gather(scales, index))
    When it is safe:
        The table is a constant float32 matrix of more than one row and column, picked from along
        its first axis, and nothing else reads it.
    Numerics:
        8 bits: each number is off by at most 0.4 % of the largest of its row.
    Source:
        Guan et al. 2019, Post-Training 4-bit Quantization on Embedding Tables (a scale a row).
    """

    id = "store-embeddings-in-8-bits"
    exactness = "lossy"

    @rule("Gather", name="EmbeddingRows")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A Gather of rows."""
        table, index = node.inputs[:2]
        data = context.array(table)
        if data is None or data.dtype != np.float32 or data.ndim != 2 or min(data.shape) < 2:
            return None
        if table is None or index is None or context.attribute(node, "axis") not in (0, -2):
            return Declined("Its Gather does not pick rows")
        if len(table.uses()) > 1:
            return Declined("Its table is read by others, too")
        rows, scales = quantized_rows(data)
        base = table.name or "table"
        integers = NewInitializer.of(rows, f"{base}_quantized")
        steps = NewInitializer.of(scales[:, None], f"{base}_scale")
        picked = NewNode("Gather", [integers, index], {"axis": 0})
        real = NewNode("Cast", [picked.output()], {"to": int(ir.DataType.FLOAT)})
        scale = NewNode("Gather", [steps, index], {"axis": 0})
        made = NewNode("Mul", [real.output(), scale.output()])
        reason = f"Its table is constant: {data.shape[0]} rows of int8 with a scale each."
        nodes = [picked, real, scale, made]
        return Replacement([node], {node.outputs[0]: made.output()}, reason, nodes)


def _of_bits(site: Site, product: Product, *, bits: int, block: int) -> Operand:
    """The product by a kernel that unpacks the weights itself."""
    inner, columns = product.weight.shape
    packed, scales = packed_blocks(product.weight.T, block=block, bits=bits)
    return site.new(
        "MatMulNBits",
        product.rows,
        site.weight(packed),
        site.weight(scales),
        domain=MICROSOFT,
        K=inner,
        N=columns,
        bits=bits,
        block_size=block,
        accuracy_level=_AS_INT8,
    )


def _of_blocks(site: Site, product: Product, block: int) -> Operand:
    """The product of weights that standard operators unpack."""
    site.needs(_BLOCKS_SINCE, "DequantizeLinear with blocks")
    inner, columns = product.weight.shape
    numbers, scales = quantized_blocks(product.weight.T, block=block, bits=4)
    placed = numbers.reshape(columns, -1)[:, :inner].T
    tensor = ir.Tensor(placed.astype(ir.DataType.INT4.numpy()), dtype=ir.DataType.INT4)
    weight = site.new(
        "DequantizeLinear",
        NewInitializer(tensor, f"{site.base}_weight"),
        site.weight(scales.T),
        axis=0,
        block_size=block,
    )
    return site.new("MatMul", product.rows, weight)
