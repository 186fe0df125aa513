"""Operators that draw numbers."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators.call import CONTRIB, Call, Typed
from optimizer.operators.operator import Operator

FLOAT = ir.DataType.FLOAT


def like_with_type(call: Call) -> list[Typed]:
    """The input's shape; `dtype` or else the input's element type."""
    return [(call.element_type("dtype") or call.dtype(0), call.shape(0))]


def random(call: Call) -> list[Typed]:
    """The shape is an attribute."""
    return [(call.element_type("dtype") or FLOAT, call.numbers("shape"))]


_RANDOM = Operator(random=True)
_DROPOUT = Operator(domain=CONTRIB, random=True)

OPERATORS = (
    *_RANDOM.named("", types=like_with_type, layout="agnostic").each(
        "Bernoulli RandomNormalLike RandomUniformLike"
    ),
    *_RANDOM.named("", types=random).each("RandomNormal RandomUniform"),
    _RANDOM.named("Multinomial"),
    *_DROPOUT.each("BiasDropout BitmaskBiasDropout BitmaskDropout Sampling"),
)
