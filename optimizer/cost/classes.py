"""Operators by what limits them: nodes of one class run at one rate on one device."""

from __future__ import annotations

from enum import StrEnum

import onnx_ir as ir

from optimizer.cost.node import CONTROL, STANDARD, is_view
from optimizer.cost.sizes import Sizes
from optimizer.operators.call import CONTRIB


class OperatorClass(StrEnum):
    """What kind of work a node is; the value is the display text."""

    DENSE_CONV = "dense convolution"
    POINTWISE_CONV = "pointwise convolution"
    GROUPED_CONV = "grouped convolution"
    DEPTHWISE_CONV = "depthwise convolution"
    GEMM = "matrix product"
    BATCHED_MATMUL = "batched matrix product"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    ELEMENTWISE = "elementwise"
    TRANSCENDENTAL = "transcendental"
    NORMALIZATION = "normalization"
    SOFTMAX = "softmax"
    REDUCTION = "reduction"
    POOLING = "pooling"
    TRANSPOSE = "transpose"
    BLOCK_TRANSPOSE = "transpose of blocks"
    COPY = "copy"
    GATHER = "gather"
    VIEW = "view"
    CONTROL = "control flow"


MATRIX = frozenset(
    {OperatorClass.DENSE_CONV, OperatorClass.POINTWISE_CONV, OperatorClass.GROUPED_CONV,
     OperatorClass.GEMM, OperatorClass.BATCHED_MATMUL, OperatorClass.ATTENTION,
     OperatorClass.RECURRENT}
)  # fmt: skip
"""Classes that run on matrix units where there are some; 16-bit numbers are faster there."""

PER_ELEMENT = frozenset({OperatorClass.ELEMENTWISE, OperatorClass.TRANSCENDENTAL})
"""Classes that compute every element of their output by itself."""

MOVING = frozenset(
    {OperatorClass.TRANSPOSE, OperatorClass.BLOCK_TRANSPOSE, OperatorClass.COPY,
     OperatorClass.GATHER}
)  # fmt: skip
"""Classes that only move data."""

_CONVOLUTIONS = frozenset(
    {"Conv", "ConvInteger", "ConvTranspose", "FusedConv", "NhwcFusedConv", "QLinearConv"}
)
_NAMED: dict[OperatorClass, tuple[str, ...]] = {
    OperatorClass.GEMM: ("Gemm", "FusedGemm", "MatMulNBits"),
    OperatorClass.ATTENTION: (
        "Attention", "GroupQueryAttention", "MultiHeadAttention", "PackedAttention",
    ),
    OperatorClass.RECURRENT: ("GRU", "LSTM", "RNN"),
    OperatorClass.TRANSCENDENTAL: (
        "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BiasGelu", "Celu", "Cos", "Cosh",
        "Elu", "Erf", "Exp", "FastGelu", "Gelu", "HardSwish", "Log", "Mish", "Pow", "QuickGelu",
        "Selu", "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Swish", "Tan", "Tanh",
    ),
    OperatorClass.NORMALIZATION: (
        "BatchNormalization", "EmbedLayerNormalization", "GroupNorm", "GroupNormalization",
        "InstanceNormalization", "LRN", "LayerNormalization", "LpNormalization",
        "MeanVarianceNormalization", "RMSNormalization", "SimplifiedLayerNormalization",
        "SkipGroupNorm", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
    ),
    OperatorClass.SOFTMAX: ("Hardmax", "LogSoftmax", "Softmax"),
    OperatorClass.REDUCTION: (
        "ArgMax", "ArgMin", "CumSum", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
        "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
        "TopK",
    ),
    OperatorClass.POOLING: (
        "AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool", "MaxPool",
        "MaxRoiPool", "RoiAlign",
    ),
    OperatorClass.TRANSPOSE: ("DepthToSpace", "SpaceToDepth"),
    OperatorClass.COPY: (
        "Concat", "ConstantOfShape", "Expand", "EyeLike", "Pad", "Slice", "Split", "Tile", "Trilu",
    ),
    OperatorClass.GATHER: (
        "Compress", "Gather", "GatherElements", "GatherND", "NonZero", "OneHot", "ReverseSequence",
        "Scatter", "ScatterElements", "ScatterND", "TensorScatter",
    ),
}  # fmt: skip
_CLASS = {name: kind for kind, names in _NAMED.items() for name in names}
_MULTIPLICATIONS = frozenset(
    {"DynamicQuantizeMatMul", "Einsum", "FusedMatMul", "MatMul", "MatMulInteger",
     "MatMulIntegerToFloat", "QLinearMatMul"}
)  # fmt: skip
PRODUCTS = _CONVOLUTIONS | _MULTIPLICATIONS | frozenset(_NAMED[OperatorClass.GEMM])
"""Operators that read much more than they write."""


def operator_class(node: ir.Node, sizes: Sizes | None = None) -> OperatorClass | None:
    """The class of a node; None for an operator of an unknown domain, or an unknown shape.

    Convolutions, matrix products and transposes are told apart by their shapes; every standard
    operator that is not named counts as elementwise.
    """
    standard = node.domain in STANDARD
    if not standard and node.domain != CONTRIB:
        return None
    if is_view(node):
        return OperatorClass.VIEW
    if standard and node.op_type in CONTROL:
        return OperatorClass.CONTROL
    sizes = sizes or Sizes()
    if node.op_type in _CONVOLUTIONS:
        return _convolution(node, sizes)
    if node.op_type in _MULTIPLICATIONS:
        return _product(node, sizes)
    if node.op_type == "Transpose":
        return _transpose(node, sizes)
    found = _CLASS.get(node.op_type)
    return OperatorClass.ELEMENTWISE if found is None and standard else found


def _convolution(node: ir.Node, sizes: Sizes) -> OperatorClass | None:
    """W[M, C/group, kernel…]; of ConvTranspose W[C, M/group, kernel…].

    A window of one element needs no rearranged input, whatever the groups: a matrix product.
    """
    weights = sizes.shape(node.inputs[3 if node.op_type == "QLinearConv" else 1])
    if weights is None or len(weights) < 2:
        return None
    group = node.attributes.get("group")
    groups = 1 if group is None else int(group.value)
    if groups > 1 and weights[1] == 1 and groups == weights[0]:
        return OperatorClass.DEPTHWISE_CONV
    if all(size == 1 for size in weights[2:]):
        return OperatorClass.POINTWISE_CONV
    return OperatorClass.DENSE_CONV if groups == 1 else OperatorClass.GROUPED_CONV


def _product(node: ir.Node, sizes: Sizes) -> OperatorClass | None:
    """One matrix on the right makes one product of all rows; otherwise there is one a batch."""
    index = {"QLinearMatMul": 3}.get(node.op_type, 1)
    if index >= len(node.inputs):
        return OperatorClass.ELEMENTWISE
    right = sizes.shape(node.inputs[index])
    if right is None:
        return None
    batched = len(right) > 2 and any(size != 1 for size in right[:-2])
    return OperatorClass.BATCHED_MATMUL if batched else OperatorClass.GEMM


def _transpose(node: ir.Node, sizes: Sizes) -> OperatorClass | None:
    """Whether the innermost axis stays, so that whole blocks move."""
    shape = sizes.shape(node.inputs[0])
    if shape is None:
        return None
    order = axes_in_order(node, shape)
    stays = not order or order[-1] == max(order)
    return OperatorClass.BLOCK_TRANSPOSE if stays else OperatorClass.TRANSPOSE


def axes_in_order(node: ir.Node, shape: tuple[int, ...]) -> list[int]:
    """The axes of a Transpose's input as its output has them, without those of size 1."""
    given = node.attributes.get("perm")
    order = reversed(range(len(shape))) if given is None else given.as_ints()
    return [axis for axis in order if axis < len(shape) and shape[axis] != 1]
