"""Small integer tensors followed by value: where their elements come from and go to."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_tensor
from optimizer.dimension import Dimension, product
from optimizer.operators.call import (
    INTEGERS,
    MAX_CONTENT,
    Call,
    Content,
    Dim,
    Fact,
    NotFoldable,
    in_numbers,
)
from optimizer.operators.operands import shape_part
from optimizer.operators.operator import ContentRule, Kernel

_FAR = 2**63
_RANGES = {
    ir.DataType.BOOL: range(2),
    **{ir.DataType[f"UINT{bits}"]: range(1 << bits) for bits in (8, 16, 32, 64)},
    **{
        ir.DataType[f"INT{bits}"]: range(-(1 << bits - 1), 1 << bits - 1)
        for bits in (8, 16, 32, 64)
    },
}
"""The numbers of each type whose elements are followed."""
_HOLD_SIZES = frozenset({ir.DataType.INT32, ir.DataType.INT64})


def tensor_content(tensor: ir.TensorProtocol) -> Content:
    """The elements of a small integer tensor, None for any other."""
    small = tensor.dtype in INTEGERS and tensor.size <= MAX_CONTENT
    return array_content(tensor.numpy()) if small else None


def array_content(array: np.ndarray) -> Content:
    """The elements of a small array of integers, None for any other."""
    if array.dtype.kind not in "biu" or array.size > MAX_CONTENT:
        return None
    elements = tuple(map(int, array.ravel().tolist()))  # booleans become numbers
    return elements if array.ndim else elements[0]


def moved(kernel: Kernel) -> dict[str, Kernel | ContentRule]:
    """What is known of an operator whose kernel moves any elements, be they unknown or sizes."""

    def rule(call: Call) -> list[Content]:
        given = {
            v: _with_elements(call.fact(i)) for i, v in enumerate(call.node.inputs) if v is not None
        }
        try:
            results = kernel(Call(call.node, given.__getitem__, opset=call.opset))
        except NotFoldable:
            return []
        return [tuple(np.asarray(result).ravel().tolist()) for result in results]

    return {"kernel": kernel, "contents": rule}


def _with_elements(fact: Fact) -> Fact:
    """What is known of a small tensor of integers, in an array of that shape."""
    sizes = in_numbers(fact.shape)
    if sizes is None or (count := prod(sizes)) > MAX_CONTENT:
        return fact
    content = fact.content if isinstance(fact.content, tuple) else (fact.content,) * count
    known = all(isinstance(element, int) and abs(element) < _FAR for element in content)
    array = np.empty(count, np.int64 if known else object)
    array[:] = content
    return Fact(fact.dtype, fact.shape, fact.content, array.reshape(sizes))


def shape_of(call: Call) -> list[Content]:
    """The dimensions of the input."""
    shape = call.shape(0)
    return [None if shape is None else shape_part(call, shape)]


def size_of(call: Call) -> list[Content]:
    """All dimensions multiplied."""
    shape = call.shape(0)
    return [None if shape is None else product(shape)]


def constant(call: Call) -> list[Content]:
    """A small constant."""
    tensor = constant_tensor(call.node)
    return [None if tensor is None else tensor_content(tensor)]


def rearranged(call: Call) -> list[Content]:
    """The elements in their order; the output's shape tells a scalar from a vector of one."""
    return [call.fact(0).content]


def fitted(content: Content, dtype: ir.DataType, shape: tuple[Dimension, ...] | None) -> Content:
    """The content in the form that the output's shape asks for; None where it cannot be so.

    Numbers outside the element type would have wrapped around: those become unknown.
    """
    count = product(shape) if content is not None and shape is not None else None
    if content is None or shape is None or not isinstance(count, int) or count > MAX_CONTENT:
        return None
    elements = content if isinstance(content, tuple) else (content,)
    if len(elements) == 1:
        elements = elements * count  # Expand
    elements = tuple([_in_range(element, dtype) for element in elements])
    if len(elements) != count or (count and all(element is None for element in elements)):
        return None
    return elements if shape else elements[0]


def _in_range(element: Dim, dtype: ir.DataType) -> Dim:
    if isinstance(element, int):
        return element if element in _RANGES.get(dtype, ()) else None
    return element if dtype in _HOLD_SIZES else None  # sizes of tensors that exist fit
