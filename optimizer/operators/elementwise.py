"""Operators that work element by element."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.loops import formulas
from optimizer.operators import arithmetic, flops, kernels
from optimizer.operators.arithmetic import combining
from optimizer.operators.broadcasting import broadcast, like_first
from optimizer.operators.call import CONTRIB, Call, Typed
from optimizer.operators.kernels import pairs, unary
from optimizer.operators.loops import activations as act
from optimizer.operators.loops import elementwise as loops
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
    _UNARY.named("Abs", loops=loops.function("abs"), kernel=unary(np.abs)),
    _UNARY.named("BitwiseNot", kernel=unary(np.invert)),
    _DECIDING.named("Ceil", loops=loops.function("ceil"), kernel=unary(np.ceil)),
    _DECIDING.named("Floor", loops=loops.function("floor"), kernel=unary(np.floor)),
    _UNARY.named(
        "Neg", loops=loops.function("neg"), kernel=unary(np.negative), contents=arithmetic.negate
    ),
    _UNARY.named(
        "Not", loops=loops.function("not"), kernel=unary(np.logical_not), contents=arithmetic.invert
    ),
    _DECIDING.named(
        "Reciprocal", loops=loops.mapped(formulas.reciprocal), kernel=unary(kernels.reciprocal)
    ),
    _DECIDING.named("Round", loops=loops.function("round"), kernel=unary(np.rint)),
    _DECIDING.named("Sign", loops=loops.function("sign"), kernel=unary(np.sign)),
    _UNARY.named("Sqrt", loops=loops.function("sqrt"), kernel=unary(np.sqrt)),
    _DECIDING.named(
        "IsNaN", loops=loops.function("is_nan"), types=predicate, kernel=unary(np.isnan)
    ),
    _DECIDING.named(
        "IsInf", loops=loops.with_attributes(loops.is_inf), types=predicate, kernel=reference
    ),
    _UNARY.named("ScaledTanh", category="unknown", overwrites="nothing"),
    _UNARY.named("Shrink", category="unknown", loops=loops.with_attributes(act.shrink)),
    _TRANSCENDENTAL.named("Cos", loops=loops.function("cos"), kernel=unary(np.cos)),
    _TRANSCENDENTAL.named("Exp", loops=loops.function("exp"), kernel=unary(np.exp)),
    _TRANSCENDENTAL.named("Log", loops=loops.function("log"), kernel=unary(np.log)),
    _TRANSCENDENTAL.named("Sin", loops=loops.function("sin"), kernel=unary(np.sin)),
    *_TRANSCENDENTAL.named("", kernel=reference).each(
        "Acos Acosh Asin Asinh Atan Atanh Cosh Sinh Tan"
    ),
    _ACTIVATION.named("Clip", loops=loops.clip, kernel=reference, unary=False),
    _ACTIVATION.named(
        "HardSigmoid", kernel=reference, flops=flops.fixed(3),
        loops=loops.with_attributes(act.hard_sigmoid),
    ),
    _ACTIVATION.named(
        "LeakyRelu", kernel=reference, integer="computes",
        loops=loops.with_attributes(act.leaky_relu),
    ),
    _ACTIVATION.named(
        "Relu", loops=loops.mapped(act.relu, floats=False), kernel=unary(kernels.relu)
    ),
    _ACTIVATION.named("ThresholdedRelu", loops=loops.with_attributes(act.thresholded_relu)),
    _CURVED.named(
        "Sigmoid", kernel=unary(kernels.sigmoid), integer="computes",
        loops=loops.mapped(formulas.sigmoid),
    ),
    _CURVED.named("Tanh", loops=loops.function("tanh"), kernel=unary(np.tanh)),
    _CURVED.named("Elu", kernel=reference, loops=loops.with_attributes(act.elu)),
    _CURVED.named("Erf", kernel=reference, loops=loops.function("erf")),
    _CURVED.named("Softplus", kernel=reference, loops=loops.mapped(formulas.softplus)),
    _CURVED.named("Celu", loops=loops.with_attributes(act.celu)),
    _CURVED.named("Selu", loops=loops.with_attributes(act.selu)),
    _CURVED.named("Softsign", loops=loops.mapped(act.softsign)),
    # 0.5 * x * (1 + erf(x / sqrt 2))
    _CURVED.named(
        "Gelu", loops=loops.with_attributes(act.approximate_gelu), flops=flops.fixed(5)
    ),
    # x * sigmoid(x)
    _CURVED.named(
        "Swish", loops=loops.with_attributes(act.swish), flops=flops.fixed(2)
    ),
    # x * clip(x / 6 + 0.5)
    _CURVED.named(
        "HardSwish", loops=loops.mapped(act.hard_swish), flops=flops.fixed(4)
    ),
    _CURVED.named("Mish", loops=loops.mapped(act.mish), flops=flops.fixed(3)),
    _GELU.named("BiasGelu", loops=loops.mapped(act.bias_gelu), flops=flops.fixed(6), unary=False),
    _GELU.named("FastGelu", loops=act.fast_gelu, flops=flops.fixed(8), unary=False),
    _GELU.named("Gelu", loops=loops.mapped(formulas.gelu), flops=flops.fixed(5)),
    _GELU.named("QuickGelu", loops=loops.with_attributes(act.quick_gelu), flops=flops.fixed(3)),
    _BINARY.named(
        "Add", commutes=True, contents=combining(arithmetic.added), kernel=pairs(np.add),
        integer="computes", loops=loops.function("add"),
    ),
    _BINARY.named(
        "Sub", contents=combining(arithmetic.subtracted), kernel=pairs(np.subtract),
        loops=loops.function("sub"),
    ),
    _BINARY.named(
        "Mul", commutes=True, contents=combining(arithmetic.multiplied), kernel=pairs(np.multiply),
        loops=loops.function("mul"),
        integer="computes",
    ),
    _BINARY.named(
        "Div", contents=combining(arithmetic.divided), kernel=pairs(kernels.divide),
        loops=loops.function("div"),
    ),
    _BINARY.named(
        "Pow", kernel=reference, kind=OperatorClass.TRANSCENDENTAL, precision="range-critical",
        loops=loops.power,
    ),
    _BINARY.named(
        "And", commutes=True, contents=combining(arithmetic.multiplied),
        kernel=pairs(np.logical_and),
        loops=loops.function("and"),
    ),
    _BINARY.named(
        "Or", commutes=True, contents=combining(arithmetic.maximum), kernel=pairs(np.logical_or),
        loops=loops.function("or"),
    ),
    _BINARY.named("Xor", commutes=True, loops=loops.function("xor"), kernel=pairs(np.logical_xor)),
    _BINARY.named("PRelu", loops=loops.prelu, types=like_first, category="act", kernel=reference),
    _VARIADIC.named("BitShift", kernel=reference),
    _VARIADIC.named("BitwiseAnd", commutes=True, kernel=pairs(np.bitwise_and)),
    _VARIADIC.named("BitwiseOr", commutes=True, kernel=pairs(np.bitwise_or)),
    _VARIADIC.named("BitwiseXor", commutes=True, kernel=pairs(np.bitwise_xor)),
    _VARIADIC.named(
        "Mod", contents=combining(arithmetic.modulo), kernel=kernels.modulo,
        loops=loops.with_attributes(loops.modulo, floats=False),
        precision="range-critical",
    ),
    _VARIADIC.named(
        "Max", contents=combining(arithmetic.maximum), kernel=kernels.variadic(np.maximum),
        loops=loops.folded("max"),
        flops=flops.variadic,
    ),
    _VARIADIC.named(
        "Min", contents=combining(arithmetic.minimum), kernel=kernels.variadic(np.minimum),
        loops=loops.folded("min"),
        flops=flops.variadic,
    ),
    _VARIADIC.named(
        "Sum", loops=loops.folded("add"), kernel=kernels.variadic(np.add), flops=flops.variadic
    ),
    _VARIADIC.named("Mean", loops=loops.mapped(loops.mean), flops=flops.variadic),
    _COMPARISON.named(
        "Equal", commutes=True, contents=combining(arithmetic.equal), kernel=pairs(np.equal),
        loops=loops.function("eq"),
    ),
    _COMPARISON.named(
        "Greater", contents=combining(arithmetic.greater), kernel=pairs(np.greater),
        loops=loops.function("gt"),
    ),
    _COMPARISON.named(
        "GreaterOrEqual", contents=combining(arithmetic.not_less), kernel=pairs(np.greater_equal),
        loops=loops.function("ge"),
    ),
    _COMPARISON.named(
        "Less", contents=combining(arithmetic.less), kernel=pairs(np.less),
        loops=loops.function("lt"),
    ),
    _COMPARISON.named(
        "LessOrEqual", contents=combining(arithmetic.not_greater), kernel=pairs(np.less_equal),
        loops=loops.function("le"),
    ),
    _BINARY.named(
        "Where", types=where, contents=arithmetic.where, kernel=kernels.where, any_type=True,
        loops=loops.where,
        flops=flops.moving,
    ),
    _UNARY.named(
        "Cast", types=cast, contents=arithmetic.cast, category="shape", kernel=kernels.cast,
        loops=loops.cast_to,
        any_type=True, flops=flops.moving, carries=True, precision=None,
    ),
    _UNARY.named(
        "CastLike", types=cast_like, contents=arithmetic.cast, category="shape",
        loops=loops.cast_to,
        kernel=kernels.cast, any_type=True, flops=flops.moving, carries=True, unary=False,
        precision=None,
    ),
    _UNARY.named("BitCast", types=cast, category="unknown", unary=False, precision=None),
)  # fmt: skip
