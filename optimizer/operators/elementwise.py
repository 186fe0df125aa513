"""Operators that work element by element, and those that keep their input's shape."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators.call import CONTRIB, Call, Shape, Typed, axis_in, broadcast, types

FLOAT, BOOL, UINT8 = ir.DataType.FLOAT, ir.DataType.BOOL, ir.DataType.UINT8
_CONTRIB_KEEPING = (
    "BiasGelu", "FastGelu", "Gelu", "QuickGelu", "RotaryEmbedding", "GroupNorm", "SkipGroupNorm",
    "QLinearSigmoid", "QLinearLeakyRelu", "SimplifiedLayerNormalization", "LayerNormalization",
)  # fmt: skip


@types(
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Clip",
    "Cos", "Cosh", "CumProd", "CumSum", "Elu", "Erf", "Exp", "Floor", "Gelu", "GroupNormalization",
    "HardSigmoid", "HardSwish", "Hardmax", "Identity", "InstanceNormalization", "LRN", "LeakyRelu",
    "Log", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "Not",
    "PRelu", "Reciprocal", "Relu", "ReverseSequence", "RotaryEmbedding", "Round", "ScaledTanh",
    "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt",
    "Swish", "Tan", "Tanh", "ThresholdedRelu", "Trilu", "ScatterElements", "ScatterND", "Scatter",
    "TensorScatter", "RMSNormalization", "SimplifiedLayerNormalization",
)  # fmt: skip
@types(*_CONTRIB_KEEPING, domain=CONTRIB)
def keeping(call: Call) -> list[Typed]:
    """The first output is like the first input; further outputs are not described."""
    return [(call.dtype(0), call.shape(0))]


@types("IsNaN", "IsInf")
def test(call: Call) -> list[Typed]:
    """A yes or no for each element."""
    return [(BOOL, call.shape(0))]


@types("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor")
def binary(call: Call) -> list[Typed]:
    """Multidirectional broadcasting since operator set 7; before, the first input's shape."""
    shape = call.shape(0) if call.opset < 7 else broadcast(call.shape(0), call.shape(1))
    return [(call.dtype(0), shape)]


@types("Mod", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Max", "Min", "Mean", "Sum")
def variadic(call: Call) -> list[Typed]:
    """Any number of inputs, broadcast together."""
    return [(call.dtype(0), broadcast(*(call.shape(i) for i in range(len(call.inputs)))))]


@types("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
def comparison(call: Call) -> list[Typed]:
    """A yes or no for each pair of elements."""
    return [(BOOL, binary(call)[0][1])]


@types("QLinearAdd", "QLinearMul", domain=CONTRIB)
def quantized_binary(call: Call) -> list[Typed]:
    """A and B are inputs 0 and 3."""
    return [(call.dtype(0), broadcast(call.shape(0), call.shape(3)))]


@types("Where")
def where(call: Call) -> list[Typed]:
    """Condition and both alternatives, broadcast together."""
    dtype = call.dtype(1) or call.dtype(2)
    return [(dtype, broadcast(call.shape(0), call.shape(1), call.shape(2)))]


@types("Cast", "BitCast")
def cast(call: Call) -> list[Typed]:
    """Another element type."""
    return [(call.element_type("to"), call.shape(0))]


@types("CastLike")
def cast_like(call: Call) -> list[Typed]:
    """The element type of the second input."""
    return [(call.dtype(1), call.shape(0))]


@types("Dropout")
def dropout(call: Call) -> list[Typed]:
    """The data and, since operator set 10, a mask of booleans."""
    mask = BOOL if call.opset >= 10 else call.dtype(0)
    return [(call.dtype(0), call.shape(0)), (mask, call.shape(0))]


@types("QuantizeLinear")
@types("QuantizeLinear", domain=CONTRIB)
def quantize(call: Call) -> list[Typed]:
    """The element type of the zero point, else `output_dtype`, else uint8."""
    dtype = call.dtype(2) if call.has(2) else call.element_type("output_dtype") or UINT8
    return [(dtype, call.shape(0))]


@types("DequantizeLinear")
@types("DequantizeLinear", domain=CONTRIB)
def dequantize(call: Call) -> list[Typed]:
    """The element type of the scale, unless `output_dtype` says otherwise."""
    return [(call.element_type("output_dtype") or call.dtype(1), call.shape(0))]


@types("DynamicQuantizeLinear")
def dynamic_quantize(call: Call) -> list[Typed]:
    """Quantized data, scale and zero point."""
    return [(UINT8, call.shape(0)), (FLOAT, ()), (UINT8, ())]


@types("BatchNormalization")
def batch_normalization(call: Call) -> list[Typed]:
    """Y like X; in training also the running mean and variance, shaped like inputs 3 and 4."""
    outputs: list[Typed] = [(call.dtype(0), call.shape(0))]
    if call.opset >= 14:
        outputs += [(call.dtype(3), call.shape(3)), (call.dtype(4), call.shape(4))]
    return outputs


@types("LayerNormalization")
def layer_normalization(call: Call) -> list[Typed]:
    """Y like X; mean and inverse deviation with the normalized axes reduced to 1."""
    shape = call.shape(0)
    if shape is None:
        return [(call.dtype(0), None)]
    axis = axis_in(call.number("axis", -1), len(shape))
    reduced: Shape = shape[:axis] + (1,) * (len(shape) - axis)
    stash = ir.DataType(call.number("stash_type", 1))
    return [(call.dtype(0), shape), (stash, reduced), (stash, reduced)]


@types("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=CONTRIB)
def skip_layer_normalization(call: Call) -> list[Typed]:
    """Output 3 is the sum of input and skip; mean and deviation (1 and 2) are not described."""
    like: Typed = (call.dtype(0), call.shape(0))
    return [like, (None, None), (None, None), like]


@types("RandomNormalLike", "RandomUniformLike", "Bernoulli", "EyeLike")
def like_with_type(call: Call) -> list[Typed]:
    """The input's shape; `dtype` or else the input's element type."""
    return [(call.element_type("dtype") or call.dtype(0), call.shape(0))]


@types("RandomNormal", "RandomUniform")
def random(call: Call) -> list[Typed]:
    """The shape is an attribute."""
    return [(call.element_type("dtype") or FLOAT, call.numbers("shape"))]
