"""Operators that work element by element."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.operators import arithmetic, flops, kernels
from optimizer.operators.arithmetic import combining
from optimizer.operators.broadcasting import broadcast, like_first
from optimizer.operators.call import CONTRIB, Call, Typed
from optimizer.operators.kernels import pairs, unary
from optimizer.operators.operator import Operator, OperatorClass
from optimizer.operators.reference import reference

BOOL = ir.DataType.BOOL


def predicate(call: Call) -> list[Typed]:
    """A yes or no for each element."""
    return [(BOOL, call.shape(0))]


def binary(call: Call) -> list[Typed]:
    """Multidirectional broadcasting since operator set 7; before, the first input's shape."""
    shape = call.shape(0) if call.opset < 7 else broadcast(call.shape(0), call.shape(1))
    return [(call.dtype(0), shape)]


def variadic(call: Call) -> list[Typed]:
    """Any number of inputs, broadcast together."""
    return [(call.dtype(0), broadcast(*(call.shape(i) for i in call.inputs)))]


def comparison(call: Call) -> list[Typed]:
    """A yes or no for each pair of elements."""
    return [(BOOL, binary(call)[0][1])]


def where(call: Call) -> list[Typed]:
    """Condition and both alternatives, broadcast together."""
    dtype = call.dtype(1) or call.dtype(2)
    return [(dtype, broadcast(call.shape(0), call.shape(1), call.shape(2)))]


def cast(call: Call) -> list[Typed]:
    """Another element type."""
    return [(call.element_type("to"), call.shape(0))]


def cast_like(call: Call) -> list[Typed]:
    """The element type of the second input."""
    return [(call.dtype(1), call.shape(0))]


_UNARY = Operator(
    types=like_first, category="elem", overwrites="first", unary=True,
    layout="agnostic", precision="safe",
)  # fmt: skip
_DECIDING = _UNARY.named("", precision="range-critical")
_TRANSCENDENTAL = _DECIDING.named("", kind=OperatorClass.TRANSCENDENTAL)
_ACTIVATION = _UNARY.named("", category="act")
_CURVED = _ACTIVATION.named("", kind=OperatorClass.TRANSCENDENTAL)
_GELU = _CURVED.named("", domain=CONTRIB)
_BINARY = Operator(
    types=binary, category="elem", overwrites="any", layout="agnostic", precision="safe"
)
_VARIADIC = _BINARY.named("", types=variadic)
_COMPARISON = _BINARY.named("", types=comparison, precision="range-critical")

OPERATORS = (
    _UNARY.named("Abs", kernel=unary(np.abs)),
    _UNARY.named("BitwiseNot", kernel=unary(np.invert)),
    _DECIDING.named("Ceil", kernel=unary(np.ceil)),
    _DECIDING.named("Floor", kernel=unary(np.floor)),
    _UNARY.named("Neg", kernel=unary(np.negative), contents=arithmetic.negate),
    _UNARY.named("Not", kernel=unary(np.logical_not), contents=arithmetic.invert),
    _DECIDING.named("Reciprocal", kernel=unary(kernels.reciprocal)),
    _DECIDING.named("Round", kernel=unary(np.rint)),
    _DECIDING.named("Sign", kernel=unary(np.sign)),
    _UNARY.named("Sqrt", kernel=unary(np.sqrt)),
    _DECIDING.named("IsNaN", types=predicate, kernel=unary(np.isnan)),
    _DECIDING.named("IsInf", types=predicate, kernel=reference),
    _UNARY.named("ScaledTanh", category="unknown", overwrites="nothing"),
    _UNARY.named("Shrink", category="unknown"),
    _TRANSCENDENTAL.named("Cos", kernel=unary(np.cos)),
    _TRANSCENDENTAL.named("Exp", kernel=unary(np.exp)),
    _TRANSCENDENTAL.named("Log", kernel=unary(np.log)),
    _TRANSCENDENTAL.named("Sin", kernel=unary(np.sin)),
    *_TRANSCENDENTAL.named("", kernel=reference).each(
        "Acos Acosh Asin Asinh Atan Atanh Cosh Sinh Tan"
    ),
    _ACTIVATION.named("Clip", kernel=reference, unary=False),
    _ACTIVATION.named("HardSigmoid", kernel=reference, flops=flops.fixed(3)),
    _ACTIVATION.named("LeakyRelu", kernel=reference, integer="computes"),
    _ACTIVATION.named("Relu", kernel=unary(kernels.relu)),
    _ACTIVATION.named("ThresholdedRelu"),
    _CURVED.named("Sigmoid", kernel=unary(kernels.sigmoid), integer="computes"),
    _CURVED.named("Tanh", kernel=unary(np.tanh)),
    *_CURVED.named("", kernel=reference).each("Elu Erf Softplus"),
    *_CURVED.each("Celu Selu Softsign"),
    _CURVED.named("Gelu", flops=flops.fixed(5)),  # 0.5 * x * (1 + erf(x / sqrt 2))
    _CURVED.named("Swish", flops=flops.fixed(2)),  # x * sigmoid(x)
    _CURVED.named("HardSwish", flops=flops.fixed(4)),  # x * clip(x / 6 + 0.5)
    _CURVED.named("Mish", flops=flops.fixed(3)),
    _GELU.named("BiasGelu", flops=flops.fixed(6), unary=False),
    _GELU.named("FastGelu", flops=flops.fixed(8), unary=False),
    _GELU.named("Gelu", flops=flops.fixed(5)),
    _GELU.named("QuickGelu", flops=flops.fixed(3)),
    _BINARY.named(
        "Add", contents=combining(arithmetic.added), kernel=pairs(np.add), integer="computes"
    ),
    _BINARY.named("Sub", contents=combining(arithmetic.subtracted), kernel=pairs(np.subtract)),
    _BINARY.named(
        "Mul", contents=combining(arithmetic.multiplied), kernel=pairs(np.multiply),
        integer="computes",
    ),
    _BINARY.named("Div", contents=combining(arithmetic.divided), kernel=pairs(kernels.divide)),
    _BINARY.named(
        "Pow", kernel=reference, kind=OperatorClass.TRANSCENDENTAL, precision="range-critical"
    ),
    _BINARY.named("And", contents=combining(arithmetic.multiplied), kernel=pairs(np.logical_and)),
    _BINARY.named("Or", contents=combining(arithmetic.maximum), kernel=pairs(np.logical_or)),
    _BINARY.named("Xor", kernel=pairs(np.logical_xor)),
    _BINARY.named("PRelu", types=like_first, category="act", kernel=reference),
    _VARIADIC.named("BitShift", kernel=reference),
    _VARIADIC.named("BitwiseAnd", kernel=pairs(np.bitwise_and)),
    _VARIADIC.named("BitwiseOr", kernel=pairs(np.bitwise_or)),
    _VARIADIC.named("BitwiseXor", kernel=pairs(np.bitwise_xor)),
    _VARIADIC.named(
        "Mod", contents=combining(arithmetic.modulo), kernel=kernels.modulo,
        precision="range-critical",
    ),
    _VARIADIC.named(
        "Max", contents=combining(arithmetic.maximum), kernel=kernels.variadic(np.maximum),
        flops=flops.variadic,
    ),
    _VARIADIC.named(
        "Min", contents=combining(arithmetic.minimum), kernel=kernels.variadic(np.minimum),
        flops=flops.variadic,
    ),
    _VARIADIC.named("Sum", kernel=kernels.variadic(np.add), flops=flops.variadic),
    _VARIADIC.named("Mean", flops=flops.variadic),
    _COMPARISON.named("Equal", contents=combining(arithmetic.equal), kernel=pairs(np.equal)),
    _COMPARISON.named("Greater", contents=combining(arithmetic.greater), kernel=pairs(np.greater)),
    _COMPARISON.named(
        "GreaterOrEqual", contents=combining(arithmetic.not_less), kernel=pairs(np.greater_equal)
    ),
    _COMPARISON.named("Less", contents=combining(arithmetic.less), kernel=pairs(np.less)),
    _COMPARISON.named(
        "LessOrEqual", contents=combining(arithmetic.not_greater), kernel=pairs(np.less_equal)
    ),
    _BINARY.named(
        "Where", types=where, contents=arithmetic.where, kernel=kernels.where, any_type=True,
        flops=flops.moving,
    ),
    _UNARY.named(
        "Cast", types=cast, contents=arithmetic.cast, category="shape", kernel=kernels.cast,
        any_type=True, flops=flops.moving, carries=True, precision=None,
    ),
    _UNARY.named(
        "CastLike", types=cast_like, contents=arithmetic.cast, category="shape",
        kernel=kernels.cast, any_type=True, flops=flops.moving, carries=True, unary=False,
        precision=None,
    ),
    _UNARY.named("BitCast", types=cast, category="unknown", unary=False, precision=None),
)  # fmt: skip
