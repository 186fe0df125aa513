"""Quantized operators, as arithmetic of numbers or of integers."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.hardware import profile_of
from optimizer.passes.draft import NotHere, attributes_of, dims_of, dtype_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import NewInitializer, Operand, Replacement

_WHOLE = frozenset({ir.DataType.INT8, ir.DataType.UINT8, ir.DataType.INT16, ir.DataType.UINT16})


@register
class LowerQuantization(Pass):
    """Write quantized operators as arithmetic.

    What it does:
        QuantizeLinear is a quotient, rounded, shifted and cut off; DequantizeLinear a difference
        times the scale. Products of integers become products of whole numbers in float32;
        QLinearMatMul and QLinearConv take MatMulInteger and ConvInteger where the device has them.
    Before:
        QuantizeLinear
    After:
        Div → Round → Add → Max → Min → Cast
    When it is safe:
        Types are known, and the rank where scales are one a channel; there are no blocks, and what
        is made are integers of 8 or 16 bits.
    Numerics:
        Rounded where the runtime's kernels round. Sums of products in float32 are exact up to 2²⁴;
        beyond they are rounded, which the runtime's integers are not.
    Source:
        ONNX operator specification; Jacob et al. 2018.
    """

    id = "lower-quantization"
    exactness = "reassociates"
    order = 30

    profile: str = "matrix-engine"

    @lowers("QuantizeLinear", "com.microsoft::QuantizeLinear", name="QuotientRounded")
    def quantize(self, lowering: Lowering) -> Replacement:
        """Saturated round(x / scale) + zero point."""
        spread = _channels(lowering)
        x = _float(lowering, lowering.input(0))
        quotient = lowering.new("Div", x, _numbers(lowering, 1, spread))
        made = _saturated(lowering, quotient, 2, spread)
        return lowering.put(made, "It is a quotient, rounded, shifted and cut off.")

    @lowers("DequantizeLinear", "com.microsoft::DequantizeLinear", name="DifferenceScaled")
    def dequantize(self, lowering: Lowering) -> Replacement:
        """(x − zero point) · scale."""
        spread = _channels(lowering)
        value = _centred(lowering, 0, 2, spread)
        made: Operand = lowering.new("Mul", value, _numbers(lowering, 1, spread))
        kind = dtype_of(lowering.node.outputs[0])
        made = made if kind == ir.DataType.FLOAT else lowering.new("Cast", made, to=int(kind))
        return lowering.put(made, "It is a difference times the scale.")

    @lowers("MatMulInteger", "ConvInteger", name="ProductOfIntegers")
    def integers(self, lowering: Lowering) -> Replacement:
        """(a − a's zero point) times (b − b's zero point), in whole numbers of float32."""
        total = _product(lowering, (0, 1), (2, 3))
        result = lowering.new("Cast", total, to=int(ir.DataType.INT32))
        return lowering.put(result, "It is a product of whole numbers.")

    @lowers("QLinearMatMul", "QLinearConv", name="QuantizedProduct")
    def product(self, lowering: Lowering) -> Replacement:
        """A product of integers and the bias of a convolution, scaled and quantized."""
        integers = f"{lowering.node.op_type.removeprefix('QLinear')}Integer"
        spread = _rows(lowering)
        if profile_of(self.profile).has(integers) and _one(lowering, 5):
            about = attributes_of(lowering.node)
            operands = [lowering.input(index) for index in (0, 3, 2, 5)]
            total = _float(lowering, lowering.new(integers, *operands, **about))
        else:
            total = _product(lowering, (0, 3), (2, 5))
        if lowering.optional_input(8) is not None:
            total = lowering.new("Add", total, _numbers(lowering, 8, spread))
        both = lowering.new("Mul", _numbers(lowering, 1, ()), _numbers(lowering, 4, spread))
        factor = lowering.new("Div", both, _numbers(lowering, 6, ()))
        made = _saturated(lowering, lowering.new("Mul", total, factor), 7, ())
        return lowering.put(made, "It is a product of integers, scaled and quantized.")


def _one(lowering: Lowering, index: int) -> bool:
    """Whether an input is one number, with an axis or without."""
    return all(dim == 1 for dim in dims_of(lowering.input(index)))


def _channels(lowering: Lowering) -> tuple[int, ...]:
    """The shape of scales and zero points beside the first input; empty where there is one.

    Raises:
        NotHere: they are one a block.
    """
    if lowering.of("block_size"):
        raise NotHere("its scales are one a block")
    if _one(lowering, 1):
        return ()
    rank = lowering.rank(lowering.input(0))
    axis = lowering.of("axis")
    shape = [1] * rank
    shape[(1 if axis is None else int(axis)) % rank] = -1
    return tuple(shape)


def _rows(lowering: Lowering) -> tuple[int, ...]:
    """The shape of numbers of the second operand's channels: a convolution's, or columns."""
    convolution = "Conv" in lowering.node.op_type
    return (-1, *(1,) * (lowering.rank(lowering.input(0)) - 2)) if convolution else (-1,)


def _float(lowering: Lowering, value: Operand) -> Operand:
    if isinstance(value, ir.Value) and dtype_of(value) == ir.DataType.FLOAT:
        return value
    return lowering.new("Cast", value, to=int(ir.DataType.FLOAT))


def _numbers(lowering: Lowering, index: int, spread: tuple[int, ...]) -> Operand:
    """An input of numbers as float32, in a shape that goes beside what they are for."""
    shape = () if _one(lowering, index) else spread
    value = lowering.input(index)
    known = lowering.constant(value)
    if known is not None:
        return lowering.weight(known.astype(np.float32).reshape(shape))
    numbers = _float(lowering, value)
    return numbers if not dims_of(value) else lowering.reshape(numbers, *shape)


def _centred(lowering: Lowering, index: int, zero: int, spread: tuple[int, ...]) -> Operand:
    """An input of integers less its zero point, as float32."""
    value = _float(lowering, lowering.input(index))
    given = lowering.optional_input(zero)
    if given is None:
        return value
    known = lowering.constant(given)
    if known is not None and not known.any():
        return value
    return lowering.new("Sub", value, _numbers(lowering, zero, spread))


def _product(lowering: Lowering, operands: tuple[int, int], zeros: tuple[int, int]) -> Operand:
    """The product of two inputs, each less its zero point; its sums are whole numbers.

    Raises:
        NotHere: the first one's zero points are one a row.
    """
    if lowering.optional_input(zeros[0]) is not None and not _one(lowering, zeros[0]):
        raise NotHere("the zero points of its first operand are one a row")
    left = _centred(lowering, operands[0], zeros[0], ())
    if "Conv" not in lowering.node.op_type:
        return lowering.new("MatMul", left, _centred(lowering, operands[1], zeros[1], (-1,)))
    places = len(dims_of(lowering.input(operands[1]))) - 1
    right = _centred(lowering, operands[1], zeros[1], (-1, *(1,) * places))
    return lowering.new("Conv", left, right, **attributes_of(lowering.node))


def _saturated(lowering: Lowering, value: Operand, zero: int, spread: tuple[int, ...]) -> Operand:
    """A value rounded, shifted by a zero point and cut off at the ends of the result's type.

    Raises:
        NotHere: it is no integer of 8 or 16 bits.
    """
    kind = dtype_of(lowering.node.outputs[0])
    if kind not in _WHOLE:
        raise NotHere(f"it makes {kind.name.lower()}, not integers of 8 or 16 bits")
    value = lowering.new("Round", value)
    if lowering.optional_input(zero) is not None:
        value = lowering.new("Add", value, _numbers(lowering, zero, spread))
    ends = np.iinfo(kind.numpy())
    value = lowering.new("Max", value, _end(lowering, ends.min))
    return lowering.new("Cast", lowering.new("Min", value, _end(lowering, ends.max)), to=int(kind))


def _end(lowering: Lowering, number: int) -> NewInitializer:
    return lowering.weight(np.asarray(number, np.float32))
