"""Normalizations as means, differences and roots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.passes.block.batch_norms import training
from optimizer.passes.draft import NotHere, dims_of, dtype_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

_SKIP = "com.microsoft::SkipLayerNormalization"
_SKIP_SIMPLE = "com.microsoft::SkipSimplifiedLayerNormalization"


@register
class LowerNormalization(Pass):
    """Write normalizations as primitives.

    What it does:
        Mean, difference, mean of squares, root, quotient, scale and bias, each an operator of its
        own. BatchNormalization with constants is one Mul and one Add.
    Before:
        LayerNormalization
    After:
        ReduceMean → Sub → Mul → ReduceMean → Add → Sqrt → Div → Mul → Add
    When it is safe:
        The rank of the input is known; for groups its channels, too. BatchNormalization is not in
        training.
    Numerics:
        The same mathematics. The runtime's kernel may compute the variance as mean(x²) − mean(x)².
        ONNX's own function bodies are not taken: they reshape to a matrix and compute its sizes.
    Source:
        Ioffe, Szegedy 2015; Ba et al. 2016; Ulyanov et al. 2016; Wu, He 2018; Zhang, Sennrich 2019.
    """

    id = "lower-normalization"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers("BatchNormalization", name="BatchNorm")
    def batch(self, lowering: Lowering) -> Replacement:
        """(x − mean) / √(variance + ε) · scale + bias, a number a channel."""
        why = training(lowering.node, lowering.context)
        if why is not None:
            raise NotHere(why)
        lowering.only_first_output()
        x = lowering.input(0)
        spread = (-1, *(1,) * (lowering.rank(x) - 2))
        known = [lowering.constant(lowering.input(index)) for index in (1, 2, 3, 4)]
        if all(data is not None for data in known):
            scale, bias, mean, variance = (data.astype(np.float64) for data in known)
            factor = scale / np.sqrt(variance + float(lowering.of("epsilon")))
            product = lowering.new("Mul", x, lowering.like(factor.reshape(spread), x))
            added = lowering.like((bias - mean * factor).reshape(spread), x)
            return lowering.put(lowering.new("Add", product, added), "All it reads is constant.")
        scale, bias, mean, variance = (lowering.input(index) for index in (1, 2, 3, 4))
        deviation = _root(lowering, variance, variance)
        factor = lowering.reshape(lowering.new("Div", scale, deviation), *spread)
        centred = lowering.new("Sub", x, lowering.reshape(mean, *spread))
        product = lowering.new("Mul", centred, factor)
        result = lowering.new("Add", product, lowering.reshape(bias, *spread))
        return lowering.put(result, "A number a channel is subtracted, multiplied and added.")

    @lowers("InstanceNormalization", "GroupNormalization", name="ChannelNorm")
    def channels(self, lowering: Lowering) -> Replacement:
        """Each channel of each sample, or each group of them, normalized over its places."""
        x = lowering.input(0)
        dims = dims_of(x)
        spread = (-1, *(1,) * (len(dims) - 2))
        scale, bias = lowering.input(1), lowering.input(2)
        if lowering.node.op_type == "InstanceNormalization":
            result, *_ = _normalized(lowering, x, range(2, len(dims)))
            return _scaled(lowering, result, scale, bias, spread)
        if lowering.opset < 21:
            raise NotHere("before opset 21 its scale is one a group")
        if dims[1] is None or sum(dim is None for dim in dims[2:]) > 1:
            raise NotHere("the sizes of its channels are free in the file")
        groups = int(lowering.of("num_groups"))
        apart = lowering.reshape(x, 0, groups, -1)
        result, *_ = _normalized(lowering, x, [2], of=apart)
        back = (0, dims[1], *(-1 if dim is None else dim for dim in dims[2:]))
        return _scaled(lowering, lowering.reshape(result, *back), scale, bias, spread)

    @lowers("LayerNormalization", name="LayerNorm")
    def layer(self, lowering: Lowering) -> Replacement:
        """The last axes normalized."""
        axes = _last_axes(lowering)
        result, mean, deviation = _normalized(lowering, lowering.input(0), axes)
        made = _scale_and_shift(lowering, result, lowering.input(1), lowering.optional_input(2))
        extra = [mean, lowering.new("Reciprocal", deviation)] if _more_used(lowering) else []
        return lowering.put_all([made, *extra], _WHY)

    @lowers("RMSNormalization", "SimplifiedLayerNormalization", name="RootMeanSquareNorm")
    def root_mean_square(self, lowering: Lowering) -> Replacement:
        """The last axes over the root of the mean of their squares."""
        if _more_used(lowering):
            raise NotHere("its deviation is used")
        result, *_ = _normalized(lowering, lowering.input(0), _last_axes(lowering), centre=False)
        return _scaled(lowering, result, lowering.input(1))

    @lowers(_SKIP, _SKIP_SIMPLE, name="SkipNorm")
    def skip(self, lowering: Lowering) -> Replacement:
        """A sum, then a normalization of its last axis; the sum is the fourth output."""
        if any(map(is_used, lowering.node.outputs[1:3])):
            raise NotHere("its mean or its deviation is used")
        simple = lowering.node.op_type == "SkipSimplifiedLayerNormalization"
        x = lowering.input(0)
        total: Operand = lowering.new("Add", x, lowering.input(1))
        bias = lowering.optional_input(3 if simple else 4)
        if bias is not None:
            total = lowering.new("Add", total, bias)
        axis = lowering.rank(x) - 1
        result, *_ = _normalized(lowering, x, [axis], of=total, centre=not simple)
        shift = None if simple else lowering.optional_input(3)
        outputs = [_scale_and_shift(lowering, result, lowering.input(2), shift)]
        if len(lowering.node.outputs) > 3 and is_used(lowering.node.outputs[3]):
            values = {lowering.node.outputs[0]: outputs[0], lowering.node.outputs[3]: total}
            return Replacement([lowering.node], values, _WHY, tuple(lowering.made))
        return lowering.put_all(outputs, _WHY)


_WHY = "Mean, difference, squares, root and quotient are operators of their own."


def _last_axes(lowering: Lowering) -> Sequence[int]:
    rank = lowering.rank(lowering.input(0))
    axis = lowering.of("axis")
    return range((-1 if axis is None else int(axis)) % rank, rank)


def _more_used(lowering: Lowering) -> bool:
    return any(map(is_used, lowering.node.outputs[1:]))


def _normalized(
    lowering: Lowering,
    x: ir.Value,
    axes: Sequence[int],
    *,
    of: Operand | None = None,
    centre: bool = True,
) -> tuple[Operand, Operand, Operand]:
    """(v − mean) / √(mean((v − mean)²) + ε), in float32 where 16 bits are stashed so.

    Args:
        lowering: makes the nodes.
        x: has the type of `v`.
        axes: that the means run over.
        of: `v`, where it is not `x`.
        centre: whether the mean is subtracted.

    Returns: the result, the mean (v itself, where none is subtracted) and the root.
    """
    value: Operand = x if of is None else of
    dtype = dtype_of(x)
    wide = dtype.itemsize < 4 and lowering.of("stash_type") in (None, 1)
    if wide:
        value = lowering.new("Cast", value, to=int(ir.DataType.FLOAT))
    mean = lowering.reduce("ReduceMean", value, axes) if centre else value
    if centre:
        value = lowering.new("Sub", value, mean)
    squares = lowering.reduce("ReduceMean", lowering.new("Mul", value, value), axes)
    root = _root(lowering, squares, None if wide else x)
    result = lowering.new("Div", value, root)
    if wide:
        result = lowering.new("Cast", result, to=int(dtype))
    return result, mean, root


def _root(lowering: Lowering, variance: Operand, like: ir.Value | None) -> Operand:
    epsilon = lowering.of("epsilon")
    default = 1e-12 if lowering.node.domain else 1e-5  # the runtime's own, ONNX's
    number = default if epsilon is None else float(epsilon)
    data = np.asarray(number, np.float32)
    added = lowering.weight(data) if like is None else lowering.number(like, number)
    return lowering.new("Sqrt", lowering.new("Add", variance, added))


def _scaled(
    lowering: Lowering,
    value: Operand,
    scale: ir.Value,
    bias: ir.Value | None = None,
    spread: tuple[int, ...] = (),
) -> Replacement:
    return lowering.put(_scale_and_shift(lowering, value, scale, bias, spread), _WHY)


def _scale_and_shift(
    lowering: Lowering,
    value: Operand,
    scale: ir.Value,
    bias: ir.Value | None = None,
    spread: tuple[int, ...] = (),
) -> Operand:
    result = lowering.new("Mul", value, _spread(lowering, scale, spread))
    if bias is None:
        return result
    return lowering.new("Add", result, _spread(lowering, bias, spread))


def _spread(lowering: Lowering, value: ir.Value, spread: tuple[int, ...]) -> Operand:
    known = lowering.constant(value)
    if not spread:
        return value
    if known is None:
        return lowering.reshape(value, *spread)
    return lowering.weight(known.reshape(spread))
