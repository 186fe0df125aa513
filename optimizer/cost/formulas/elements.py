"""Operators that do a little for each element: elementwise, reductions, pools, what only moves."""

from __future__ import annotations

from math import prod

from optimizer.cost.formulas.operation import Formula, Formulas, Operation, times
from optimizer.operators.call import CONTRIB

FORMULAS = Formulas()


def per_element(operation: Operation) -> int | None:
    """out: one operation for each element of the output."""
    return operation.out()


def _fixed(factor: int) -> Formula:
    return lambda operation: times(factor, operation.out())


def _moving(operation: Operation) -> int:
    return 0


_OPERATIONS_PER_ELEMENT = {
    # scale and shift with precomputed constants
    "BatchNormalization": 2,
    # mean, subtract, square, mean, divide by the root, scale, shift
    "LayerNormalization": 7, "InstanceNormalization": 7, "GroupNormalization": 7,
    # square, mean, divide by the root, scale
    "RMSNormalization": 4, "SimplifiedLayerNormalization": 4,
    # maximum, subtract, exponential, sum, divide
    "Softmax": 5, "LogSoftmax": 5, "Hardmax": 2,
    # 0.5 * x * (1 + erf(x / sqrt 2))
    "Gelu": 5,
    # divide, round, add the zero point; subtract the zero point, multiply
    "QuantizeLinear": 3, "DequantizeLinear": 2,
    # x * sigmoid(x); x * clip(x / 6 + 0.5)
    "Swish": 2, "HardSwish": 4, "HardSigmoid": 3, "Mish": 3,
}  # fmt: skip
_CONTRIB_PER_ELEMENT = {
    "BiasGelu": 6, "FastGelu": 8, "Gelu": 5, "QuickGelu": 3, "LayerNormalization": 7,
    "SimplifiedLayerNormalization": 4, "SkipLayerNormalization": 8,
    "SkipSimplifiedLayerNormalization": 5, "RotaryEmbedding": 3, "QLinearAdd": 3, "QLinearMul": 3,
    "QLinearSigmoid": 3, "QLinearLeakyRelu": 3, "EmbedLayerNormalization": 9, "GroupNorm": 7,
    "SkipGroupNorm": 8, "QuantizeLinear": 3, "DequantizeLinear": 2,
}  # fmt: skip
_MOVING = (
    "Cast", "CastLike", "Compress", "Concat", "ConstantOfShape", "DepthToSpace", "Expand",
    "EyeLike", "Gather", "GatherElements", "GatherND", "NonZero", "OneHot", "Pad", "Range",
    "ReverseSequence", "Scatter", "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split",
    "TensorScatter", "Tile", "Transpose", "Trilu", "Where",
)  # fmt: skip

FORMULAS.update({("", name): _fixed(count) for name, count in _OPERATIONS_PER_ELEMENT.items()})
FORMULAS.update({(CONTRIB, name): _fixed(n) for name, n in _CONTRIB_PER_ELEMENT.items()})
FORMULAS.update(dict.fromkeys((("", name) for name in _MOVING), _moving))


@FORMULAS.of(
    "ArgMax", "ArgMin", "CumSum", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "TopK",
)  # fmt: skip
def per_input_element(operation: Operation) -> int | None:
    """in: every element is looked at once."""
    return operation.count()


@FORMULAS.of("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare", "LpNormalization")
def two_per_input_element(operation: Operation) -> int | None:
    """2 * in: every element is transformed and added."""
    return times(2, operation.count())


@FORMULAS.of("ReduceLogSumExp", "DynamicQuantizeLinear", "MeanVarianceNormalization")
def five_per_input_element(operation: Operation) -> int | None:
    """5 * in."""
    return times(5, operation.count())


@FORMULAS.of("Sum", "Mean", "Max", "Min")
def variadic(operation: Operation) -> int | None:
    """(inputs - 1) * out, Mean divides as well."""
    operands = len(operation.node.inputs)
    return times(operands - (operation.node.op_type != "Mean"), operation.out())


@FORMULAS.of("AveragePool", "MaxPool", "LpPool")
def pool(operation: Operation) -> int | None:
    """Out * kernel."""
    kernel = operation.node.attributes.get("kernel_shape")
    return None if kernel is None else times(prod(kernel.as_ints()), operation.out())


@FORMULAS.of("LRN")
def local_response_normalization(operation: Operation) -> int | None:
    """Out * (2*size + 3): squares and sums over the window, then scale, power, divide."""
    return times(2 * operation.number("size", 1) + 3, operation.out())


@FORMULAS.of("Resize", "Upsample")
def resize(operation: Operation) -> int | None:
    """Nearest moves only; linear 2*2^d and cubic 2*4^d for each output, d spatial axes."""
    mode, shape = operation.text("mode", "nearest"), operation.shape(0)
    if mode == "nearest" or shape is None:
        return None if shape is None else 0
    taps = 4 if mode == "cubic" else 2
    return times(2 * taps ** max(len(shape) - 2, 1), operation.out())
