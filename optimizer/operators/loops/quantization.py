"""Operators between numbers and their quantized form."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.loops.building import Indices, LoopTensor
from optimizer.loops.formulas import FLOATS, add, div, largest, least, mul, number, sub
from optimizer.loops.scalar import Scalar, apply, cast, index
from optimizer.operators.call import axis_in
from optimizer.operators.loops.site import NodeLoops

FLOAT, INT32 = ir.DataType.FLOAT, ir.DataType.INT32
LIMITS = {
    ir.DataType.INT8: (-128, 127),
    ir.DataType.UINT8: (0, 255),
    ir.DataType.INT16: (-32768, 32767),
    ir.DataType.UINT16: (0, 65535),
}
"""The range of each type that numbers are rounded to."""


def quantized(site: NodeLoops) -> list[LoopTensor]:
    """round(x / scale) + zero point, held in the range of the type."""
    data, dtype = site.operand(0), site.dtype()
    if dtype not in LIMITS or data.dtype not in (*FLOATS, INT32):
        raise site.decline(f"has no loops from {data.dtype.name} to {dtype.name}")
    scale, zero = _by_element(site, data, 1), _by_element(site, data, 2)
    low, high = LIMITS[dtype]

    def body(indices: Indices) -> Scalar:
        value = div(cast(data.at(indices), FLOAT), _at(scale, indices, FLOAT))
        rounded = apply("round", value)
        if zero is not None:
            rounded = add(rounded, _at(zero, indices, FLOAT))
        return cast(least(largest(rounded, number(low, rounded)), number(high, rounded)), dtype)

    return [site.func(data.shape, body)]


def dequantized(site: NodeLoops) -> list[LoopTensor]:
    """(x - zero point) scale."""
    data, dtype = site.operand(0), site.dtype()
    if data.dtype not in (*LIMITS, INT32) or dtype not in FLOATS:
        raise site.decline(f"has no loops from {data.dtype.name} to {dtype.name}")
    scale, zero = _by_element(site, data, 1), _by_element(site, data, 2)

    def body(indices: Indices) -> Scalar:
        value = cast(data.at(indices), INT32)
        if zero is not None:
            value = sub(value, _at(zero, indices, INT32))
        return cast(mul(cast(value, FLOAT), _at(scale, indices, FLOAT)), dtype)

    return [site.func(data.shape, body)]


def _at(tensor: LoopTensor | None, indices: Indices, dtype: ir.DataType) -> Scalar:
    assert tensor is not None, "the scale is there"
    return cast(tensor.at(indices), dtype)


def _by_element(site: NodeLoops, data: LoopTensor, place: int) -> LoopTensor | None:
    """A scale or zero point as a tensor like the data: one, one a place of an axis, or blocks."""
    given = site.optional(place)
    if given is None:
        return None
    if all(size == 1 for size in given.shape):
        return given.view(data.shape, lambda _: [index(0)] * len(given.shape))
    axis = axis_in(site.call.number("axis", 1), len(data.shape))
    block = site.call.number("block_size", 0)
    if len(given.shape) == 1 and not block and given.shape[0] == data.shape[axis]:
        return given.view(data.shape, lambda i: [i[axis]])
    if not block or len(given.shape) != len(data.shape):
        raise site.decline("has a scale whose shape does not fit the data")
    return given.view(
        data.shape,
        lambda i: [*i[:axis], apply("floor_div", i[axis], index(block)), *i[axis + 1 :]],
    )
