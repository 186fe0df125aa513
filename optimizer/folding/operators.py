"""Which operators are folded, how large their results are, and how they are computed.

Left out on purpose: what draws random numbers, control flow, convolutions and resampling (slow, and
never constant in practice), and DequantizeLinear, whose folding would undo a model's compression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from optimizer.folding import kernels, sizes
from optimizer.folding.application import Array
from optimizer.folding.kernels import Kernel, arithmetic, reduction, unary, variadic
from optimizer.folding.library import reference
from optimizer.folding.sizes import Size

Function = Callable[..., Array]


@dataclass(frozen=True, slots=True)
class Operator:
    """How one operator is folded.

    Attributes:
        size: elements of its largest output.
        kernel: computes it.
        exotic: whether element types numpy knows only by extension (bfloat16, …) are taken too.
    """

    size: Size
    kernel: Kernel
    exotic: bool = False


_UNARY: dict[str, Function] = {
    "Abs": np.abs,
    "BitwiseNot": np.invert,
    "Ceil": np.ceil,
    "Cos": np.cos,
    "Exp": np.exp,
    "Floor": np.floor,
    "IsNaN": np.isnan,
    "Log": np.log,
    "Neg": np.negative,
    "Not": np.logical_not,
    "Reciprocal": kernels.reciprocal,
    "Relu": kernels.relu,
    "Round": np.rint,
    "Sigmoid": kernels.sigmoid,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sqrt": np.sqrt,
    "Tanh": np.tanh,
}
_BINARY: dict[str, Function] = {
    "Add": np.add,
    "And": np.logical_and,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Div": kernels.divide,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Mul": np.multiply,
    "Or": np.logical_or,
    "Sub": np.subtract,
    "Xor": np.logical_xor,
}
_VARIADIC: dict[str, Function] = {"Max": np.maximum, "Min": np.minimum, "Sum": np.add}
_REDUCTIONS: dict[str, Function] = {
    "ReduceMax": np.max,
    "ReduceMean": np.mean,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceSum": np.sum,
}
_MOVING: dict[str, tuple[Size, Kernel]] = {
    "Cast": (sizes.first, kernels.cast),
    "CastLike": (sizes.first, kernels.cast),
    "Concat": (sizes.total, kernels.concat),
    "Expand": (sizes.expand, kernels.expand),
    "Flatten": (sizes.first, kernels.flatten),
    "Gather": (sizes.gather, kernels.gather),
    "Identity": (sizes.first, unary(lambda x: x)),
    "Reshape": (sizes.first, kernels.reshape),
    "Slice": (sizes.first, kernels.slice_),
    "Split": (sizes.first, kernels.split),
    "Squeeze": (sizes.first, kernels.squeeze),
    "Tile": (sizes.tile, kernels.tile),
    "Transpose": (sizes.first, kernels.transpose),
    "Unsqueeze": (sizes.first, kernels.unsqueeze),
    "Where": (sizes.broadcast, kernels.where),
}
_MAKING: dict[str, tuple[Size, Kernel]] = {
    "ConstantOfShape": (sizes.constant_of_shape, kernels.constant_of_shape),
    "MatMul": (sizes.matmul, kernels.matmul),
    "Mod": (sizes.broadcast, kernels.modulo),
    "Pad": (sizes.pad, kernels.pad),
    "Range": (sizes.range_, kernels.range_),
    "Shape": (sizes.rank, kernels.shape),
    "Size": (sizes.rank, kernels.size),
}
_REFERENCE: dict[str, Size] = {
    **dict.fromkeys(("Pow", "PRelu", "BitShift"), sizes.broadcast),
    **dict.fromkeys(
        (
            "Acos",
            "Asin",
            "Atan",
            "Atanh",
            "Asinh",
            "Acosh",
            "Clip",
            "Compress",
            "Cosh",
            "CumSum",
            "Elu",
            "Erf",
            "HardSigmoid",
            "IsInf",
            "LeakyRelu",
            "LogSoftmax",
            "ScatterElements",
            "ScatterND",
            "Sinh",
            "Softmax",
            "Softplus",
            "Tan",
            "Trilu",
        ),
        sizes.first,
    ),
    "ArgMax": sizes.first,
    "ArgMin": sizes.first,
    "EyeLike": sizes.first,
    "GatherElements": sizes.like_indices,
    "GatherND": sizes.gather_nd,
    "Gemm": sizes.gemm,
    "NonZero": sizes.non_zero,
    "OneHot": sizes.one_hot,
    "ReduceL1": sizes.first,
    "ReduceL2": sizes.first,
    "ReduceSumSquare": sizes.first,
}

OPERATORS: dict[str, Operator] = {
    **{name: Operator(sizes.first, unary(function)) for name, function in _UNARY.items()},
    **{name: Operator(sizes.broadcast, arithmetic(f)) for name, f in _BINARY.items()},
    **{name: Operator(sizes.broadcast, variadic(f)) for name, f in _VARIADIC.items()},
    **{name: Operator(sizes.first, reduction(f)) for name, f in _REDUCTIONS.items()},
    **{name: Operator(size, kernel, exotic=True) for name, (size, kernel) in _MOVING.items()},
    **{name: Operator(size, kernel) for name, (size, kernel) in _MAKING.items()},
    **{name: Operator(size, reference) for name, size in _REFERENCE.items()},
}
