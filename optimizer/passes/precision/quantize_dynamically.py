"""Products of int8 weights and of what is quantized anew in every run."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import MICROSOFT, attributes_of, floats_of
from optimizer.passes.kernels.products import PRODUCTS, product_of
from optimizer.passes.kernels.site import Site, rewrites
from optimizer.precision.quantization import quantized_rows
from optimizer.registry import Pass, register
from optimizer.rules import Replacement


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
    global_analysis = True

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
        8 bits: about 1 % of the largest result. A processor with AVX2 and without dot products of
        8-bit integers adds two products in 16 bits, and those of large weights overflow.
    Source:
        Jacob et al. 2018, eq. 1; ONNX Runtime contrib operators.
    """

    id = "quantize-matmul-dynamically"
    exactness = "lossy"
    global_analysis = True

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
