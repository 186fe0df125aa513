"""Functions of one element, as exponentials, quotients and comparisons."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import NotHere, dims_of, dtype_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.passes.lowering.reductions import reduced_axes
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

_GELUS = tuple(f"com.microsoft::{name}" for name in ("BiasGelu", "FastGelu", "Gelu", "QuickGelu"))


@register
class LowerElementwise(Pass):
    """Write functions of an element as primitives.

    What it does:
        Sigmoid, Softplus, Clip, Sum, Softmax of old models, ReduceLogSumExp, and ONNX Runtime's
        Gelus become exponentials, quotients, minima and maxima. What ONNX itself defines by a
        function is written by `inline-function-bodies`; its Softplus and ReduceLogSumExp are not
        taken, since log(1 + eˣ) is infinite from 89 on, and log Σ eˣ in double from 710 on.
    Before:
        Sigmoid
    After:
        Neg → Exp → Add → Reciprocal
    When it is safe:
        The type of the input is known.
    Numerics:
        The same mathematics, rounded more often.
    Source:
        ONNX operator specification; ONNX Runtime contrib operators; Hendrycks, Gimpel 2016.
    """

    id = "lower-elementwise"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers("Sigmoid", name="Sigmoid")
    def sigmoid(self, lowering: Lowering) -> Replacement:
        """1 / (1 + e⁻ˣ), which is 0 where the exponential is infinite."""
        x = lowering.input(0)
        return lowering.put(_sigmoid(lowering, x, x), "It is 1 / (1 + e⁻ˣ).")

    @lowers("Softplus", name="Softplus")
    def softplus(self, lowering: Lowering) -> Replacement:
        """max(x, 0) + log(1 + e^−|x|)."""
        x = lowering.input(0)
        small = lowering.new("Exp", lowering.new("Neg", lowering.new("Abs", x)))
        rest = lowering.new("Log", lowering.new("Add", small, lowering.number(x, 1)))
        largest = lowering.new("Max", x, lowering.number(x, 0))
        return lowering.put(
            lowering.new("Add", largest, rest), "It is max(x, 0) + log(1 + e^−|x|)."
        )

    @lowers("Sum", "Mean", name="SumOfMany")
    def total(self, lowering: Lowering) -> Replacement:
        """One Add after the other; a mean is divided by their number."""
        values = [lowering.input(index) for index in range(len(lowering.node.inputs))]
        result = lowering.each("Add", values)
        if lowering.node.op_type == "Mean":
            result = lowering.new("Div", result, lowering.number(values[0], len(values)))
        return lowering.put(result, "Two are added at a time.")

    @lowers("Clip", name="Clip")
    def clip(self, lowering: Lowering) -> Replacement:
        """The larger of x and a lower bound, then the smaller of that and an upper one."""
        x = lowering.input(0)
        result: Operand = x
        for index, name, operator in ((1, "min", "Max"), (2, "max", "Min")):
            bound: Operand | None = lowering.optional_input(index)
            if bound is None and lowering.opset < 11:
                number = float(lowering.of(name))
                bound = None if abs(number) > _NO_BOUND else lowering.number(x, number)
            result = result if bound is None else lowering.new(operator, result, bound)
        return lowering.put(result, "It is a maximum and a minimum.")

    @lowers("Softmax", "LogSoftmax", name="SoftmaxOfOldModels")
    def softmax(self, lowering: Lowering) -> Replacement | None:
        """Before opset 13 they run over all axes from one on; since then ONNX has functions."""
        if lowering.opset >= 13:
            return None
        x = lowering.input(0)
        rank = lowering.rank(x)
        axes = range(lowering.axis("axis", rank), rank)
        shifted = lowering.new("Sub", x, lowering.reduce("ReduceMax", x, axes))
        shares = lowering.new("Exp", shifted)
        total = lowering.reduce("ReduceSum", shares, axes)
        if lowering.node.op_type == "LogSoftmax":
            result = lowering.new("Sub", shifted, lowering.new("Log", total))
            return lowering.put(result, "It is x − max − log Σ e^(x − max).")
        return lowering.put(
            lowering.new("Div", shares, total), "It is e^(x − max) / Σ e^(x − max)."
        )

    @lowers("ReduceLogSumExp", name="LogOfSumOfExponentials")
    def log_sum(self, lowering: Lowering) -> Replacement:
        """The largest plus the logarithm of the sum of exponentials of differences to it."""
        x = lowering.input(0)
        axes = reduced_axes(lowering, len(dims_of(x)))
        largest = _finite(lowering, lowering.reduce("ReduceMax", x, axes), x)
        shares = lowering.new("Exp", lowering.new("Sub", x, largest))
        rest = lowering.new("Log", lowering.reduce("ReduceSum", shares, axes))
        result = lowering.new("Add", largest, rest)
        if not lowering.of("keepdims"):
            result = lowering.squeeze(result, *axes)
        return lowering.put(result, "It is max + log Σ e^(x − max).")

    @lowers(*_GELUS, name="RuntimeGelu")
    def gelu(self, lowering: Lowering) -> Replacement:
        """Gelu by erf, by tanh, or by a sigmoid; of a sum with a bias where there is one."""
        x = lowering.input(0)
        value: Operand = x
        if lowering.optional_input(1) is not None:
            value = lowering.new("Add", x, lowering.input(1))
        match lowering.node.op_type:
            case "QuickGelu":
                slope = lowering.number(x, float(lowering.of("alpha") or 1.702))
                gate = _sigmoid(lowering, lowering.new("Mul", value, slope), x)
                return lowering.put(lowering.new("Mul", value, gate), "It is x · σ(αx).")
            case "FastGelu":
                return lowering.put(_by_tanh(lowering, value, x), "It is Gelu by tanh.")
            case _:
                scaled = lowering.new("Div", value, lowering.number(x, math.sqrt(2)))
                share = _share(lowering, lowering.new("Erf", scaled), value, x)
                return lowering.put(share, "It is x / 2 · (1 + erf(x / √2)).")


_NO_BOUND = 3.4e38


def _finite(lowering: Lowering, value: Operand, like: ir.Value) -> Operand:
    """A value whose infinities are the largest numbers: ∞ − ∞ is none.

    Raises:
        NotHere: what the largest number of the type is is not known here.
    """
    dtype = dtype_of(like)
    if dtype not in (ir.DataType.DOUBLE, ir.DataType.FLOAT, ir.DataType.FLOAT16):
        raise NotHere(f"its element type is {dtype}")
    most = float(np.finfo(dtype.numpy()).max)
    above = lowering.new("Max", value, lowering.number(like, -most))
    return lowering.new("Min", above, lowering.number(like, most))


def _sigmoid(lowering: Lowering, value: Operand, like: ir.Value) -> Operand:
    exponential = lowering.new("Exp", lowering.new("Neg", value))
    return lowering.new("Reciprocal", lowering.new("Add", exponential, lowering.number(like, 1)))


def _by_tanh(lowering: Lowering, value: Operand, like: ir.Value) -> Operand:
    """X / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))."""
    square = lowering.new("Mul", value, value)
    cubic = lowering.new("Mul", square, lowering.number(like, 0.044715))
    factor = lowering.new("Add", cubic, lowering.number(like, 1))
    inner = lowering.new("Mul", value, factor)
    scaled = lowering.new("Mul", inner, lowering.number(like, math.sqrt(2 / math.pi)))
    return _share(lowering, lowering.new("Tanh", scaled), value, like)


def _share(lowering: Lowering, bent: Operand, value: Operand, like: ir.Value) -> Operand:
    half = lowering.new("Mul", value, lowering.number(like, 0.5))
    return lowering.new("Mul", half, lowering.new("Add", bent, lowering.number(like, 1)))
