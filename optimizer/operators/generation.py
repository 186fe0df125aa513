"""Operators that make tensors of their own, draw numbers, or tell about others."""

from __future__ import annotations

import math

import onnx_ir as ir

from optimizer.constants import constant_tensor
from optimizer.dimension import at_least, floor_divide
from optimizer.operators import contents, flops, kernels
from optimizer.operators.call import CONTRIB, Call, Dim, Typed
from optimizer.operators.loops import picking
from optimizer.operators.operands import shape_part
from optimizer.operators.operator import Operator, OperatorClass
from optimizer.operators.reference import reference

FLOAT = ir.DataType.FLOAT
INT64 = ir.DataType.INT64


def like_with_type(call: Call) -> list[Typed]:
    """The input's shape; `dtype` or else the input's element type."""
    return [(call.element_type("dtype") or call.dtype(0), call.shape(0))]


def random(call: Call) -> list[Typed]:
    """The shape is an attribute."""
    return [(call.element_type("dtype") or FLOAT, call.numbers("shape"))]


def shape_of(call: Call) -> list[Typed]:
    """int64[rank], or the part between `start` and `end`."""
    data = call.shape(0)
    return [(INT64, (None if data is None else len(shape_part(call, data)),))]


def size_of(call: Call) -> list[Typed]:
    """int64 scalar."""
    return [(INT64, ())]


def constant(call: Call) -> list[Typed]:
    """A tensor of the model itself."""
    tensor = constant_tensor(call.node)
    if tensor is None:
        return []
    return [(tensor.dtype, tuple(tensor.shape.numpy()))]


def constant_of_shape(call: Call) -> list[Typed]:
    """The input's elements are the sizes; float32 zeros by default."""
    value = call.tensor("value")
    sizes = call.elements(0)
    if sizes is None:
        length = call.shape(0)
        rank = length[0] if length else None
        sizes = (None,) * rank if isinstance(rank, int) else None
    return [(FLOAT if value is None else value.dtype, sizes)]


def range_(call: Call) -> list[Typed]:
    """max(ceil((limit - start) / delta), 0) elements."""
    return [(call.dtype(0), (_range_length(call),))]


def _range_length(call: Call) -> Dim:
    bounds = [call.elements(index) for index in range(3)]
    dims = [elements[0] for elements in bounds if elements]
    if len(dims) == 3 and None not in dims:
        start, limit, delta = (dim for dim in dims if dim is not None)
        if not isinstance(delta, int) or delta == 0:
            return None
        # ceil(span/delta) -> -floor(-span/delta); a negative delta counts down
        span = limit - start if delta > 0 else start - limit
        if isinstance(span, int):
            return max(-(-span // abs(delta)), 0)
        return -floor_divide(-span, abs(delta)) if at_least(span, 0) else None
    constants = [call.constant(index) for index in range(3)]
    numbers = [float(array.ravel()[0]) for array in constants if array is not None and array.size]
    if len(numbers) != 3 or numbers[2] == 0 or not all(map(math.isfinite, numbers)):
        return None
    return max(math.ceil((numbers[1] - numbers[0]) / numbers[2]), 0)


_RANDOM = Operator(random=True)
_DROPOUT = Operator(domain=CONTRIB, random=True)
_METADATA = Operator(category="shape", result="metadata", layout="sensitive", precision="safe")
_FILL = Operator(category="shape", flops=flops.moving, kind=OperatorClass.COPY)

OPERATORS = (
    *_RANDOM.named("", types=like_with_type, layout="agnostic").each(
        "Bernoulli RandomNormalLike RandomUniformLike"
    ),
    *_RANDOM.named("", types=random).each("RandomNormal RandomUniform"),
    _RANDOM.named("Multinomial"),
    *_DROPOUT.each("BiasDropout BitmaskBiasDropout BitmaskDropout Sampling"),
    _METADATA.named(
        "Shape", types=shape_of, contents=contents.shape_of, kernel=kernels.shape
    ),
    _METADATA.named(
        "Size", types=size_of, contents=contents.size_of, kernel=kernels.size, layout="agnostic"
    ),
    Operator("Constant", constant, contents.constant, category="shape", result="metadata"),
    _FILL.named(
        "ConstantOfShape", loops=picking.filled, types=constant_of_shape, shape_inputs=(0,),
        **contents.moved(kernels.constant_of_shape),
    ),
    _FILL.named(
        "EyeLike", types=like_with_type, kernel=reference, layout="sensitive"
    ),
    Operator(category="shape").named(
        "Range", types=range_, **contents.moved(kernels.range_), flops=flops.moving,
        loops=picking.counted,
        shape_inputs=(0, 1, 2),
    ),
)  # fmt: skip
