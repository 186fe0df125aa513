"""An algorithm whose element types are plain numbers: a worker may send no classes but ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import onnx_ir as ir

from optimizer.loops.algorithm import Algorithm, Func, InputTensor
from optimizer.loops.scalar import FreeSize, Scalar, Var, rewritten


def with_numbers(algorithm: Algorithm) -> Algorithm:
    """The algorithm as it is sent; nothing else can be done with it."""
    return _changed(algorithm, int)


def with_types(algorithm: Algorithm) -> Algorithm:
    """What `with_numbers` was made of.

    Raises:
        ValueError: a number is no element type.
    """
    return _changed(algorithm, ir.DataType)


def _changed(algorithm: Algorithm, change: Callable[[Any], Any]) -> Algorithm:
    def part(one: Scalar) -> Scalar:
        return one if isinstance(one, Var | FreeSize) else replace(one, dtype=change(one.dtype))

    def tensor(one: InputTensor) -> InputTensor:
        return replace(one, dtype=change(one.dtype))

    def func(one: Func) -> Func:
        return replace(one, dtype=change(one.dtype), body=rewritten(one.body, part))

    inputs, funcs = map(tensor, algorithm.inputs), map(func, algorithm.funcs)
    return replace(algorithm, inputs=tuple(inputs), funcs=tuple(funcs))
