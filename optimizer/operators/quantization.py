"""Operators that quantize, and those that compute on what is quantized."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators import flops
from optimizer.operators.broadcasting import broadcast, like_first
from optimizer.operators.call import CONTRIB, Call, Typed
from optimizer.operators.loops import quantization as loops
from optimizer.operators.operator import Operator

FLOAT, UINT8 = ir.DataType.FLOAT, ir.DataType.UINT8


def quantized_binary(call: Call) -> list[Typed]:
    """A and B are inputs 0 and 3."""
    return [(call.dtype(0), broadcast(call.shape(0), call.shape(3)))]


def quantize(call: Call) -> list[Typed]:
    """The element type of the zero point, else `output_dtype`, else uint8."""
    dtype = call.dtype(2) if call.has(2) else call.element_type("output_dtype") or UINT8
    return [(dtype, call.shape(0))]


def dequantize(call: Call) -> list[Typed]:
    """The element type of the scale, unless `output_dtype` says otherwise."""
    return [(call.element_type("output_dtype") or call.dtype(1), call.shape(0))]


def dynamic_quantize(call: Call) -> list[Typed]:
    """Quantized data, scale and zero point."""
    return [(UINT8, call.shape(0)), (FLOAT, ()), (UINT8, ())]


_QUANTIZING = Operator(category="quant", layout="follows")
_ELEMENTS = Operator(domain=CONTRIB, category="quant", flops=flops.fixed(3), layout="agnostic")

OPERATORS = (
    # divide, round, add the zero point; subtract the zero point, multiply
    _QUANTIZING.named(
        "QuantizeLinear", types=quantize, flops=flops.fixed(3), loops=loops.quantized
    ),
    _QUANTIZING.named(
        "QuantizeLinear",
        domain=CONTRIB,
        types=quantize,
        flops=flops.fixed(3),
        loops=loops.quantized,
    ),
    _QUANTIZING.named(
        "DequantizeLinear", types=dequantize, flops=flops.fixed(2), loops=loops.dequantized
    ),
    _QUANTIZING.named(
        "DequantizeLinear",
        domain=CONTRIB,
        types=dequantize,
        flops=flops.fixed(2),
        loops=loops.dequantized,
    ),
    _QUANTIZING.named("DynamicQuantizeLinear", types=dynamic_quantize, flops=flops.per_input(5)),
    *_ELEMENTS.named("", types=quantized_binary).each("QLinearAdd QLinearMul"),
    _ELEMENTS.named("QLinearSigmoid", types=like_first),
    _ELEMENTS.named("QLinearLeakyRelu", types=like_first, category="unknown"),
    Operator("QLinearGlobalAveragePool", domain=CONTRIB, category="quant", layout="sensitive"),
)
