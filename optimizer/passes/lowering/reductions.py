"""Reductions whose axes became an input in operator set 18, in a form of both."""

from __future__ import annotations

import math

from optimizer.passes.draft import NotHere, dims_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

_LOWER = ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")


@register
class LowerReductions(Pass):
    """Write newer reductions in a form of older opsets.

    What it does:
        ReduceMean is the ReduceSum over a number, ReduceMax and ReduceMin are the first of TopK
        along one axis after the other: operators that are written alike since opset 13 and 11. A
        product of few is a chain of Mul.
    Before:
        opset 18: x → ReduceMean(axes) → y
    After:
        x → ReduceSum(axes) → Div → y
    When it is safe:
        The axes are constant, the rank is known; for a mean the reduced sizes, too.
    Numerics:
        The same numbers; a mean is divided once, as the runtime's kernel does.
    Source:
        ONNX operator changelog, versions 11 to 18.
    """

    id = "lower-reductions"
    exactness = "reassociates"
    order = 60

    profile: str = "opset13"

    @lowers(*_LOWER, name="ReductionOfOpset18")
    def match(self, lowering: Lowering) -> Replacement:
        """A reduction over known axes."""
        x = lowering.input(0)
        dims = dims_of(x)
        axes = reduced_axes(lowering, len(dims))
        keep = bool(lowering.of("keepdims"))
        operator = lowering.node.op_type
        if operator == "ReduceMean":
            sizes = [dims[axis] for axis in axes]
            if None in sizes or lowering.opset < 13:
                raise NotHere("a size it reduces is free in the file")
            total = lowering.reduce("ReduceSum", x, axes, keep=keep)
            count = math.prod(size or 1 for size in sizes)
            result: Operand = lowering.new("Div", total, lowering.number(x, count))
            return lowering.put(result, "A mean is a sum over a number.")
        if operator == "ReduceProd":
            return lowering.put(_product(lowering, dims, axes, keep=keep), "Two at a time.")
        if lowering.opset < 13:
            raise NotHere("before opset 13 its axes are an attribute as they are")
        result = x
        for axis in axes:
            one, largest = lowering.integers(1), int(operator == "ReduceMax")
            result = lowering.news(
                "TopK", result, one, count=2, axis=axis, largest=largest, sorted=1
            )[0]
        if not keep:
            result = lowering.new("Squeeze", result, lowering.integers(*axes))
        return lowering.put(result, "The largest is the first of those sorted.")


def reduced_axes(lowering: Lowering, rank: int) -> list[int]:
    """The axes that a reduction is over, counted from the front.

    Raises:
        NotHere: they are computed, or there are none.
    """
    found = lowering.context.parameter(lowering.node, "axes", 1)
    given = len(lowering.node.inputs) > 1 and lowering.node.inputs[1] is not None
    if found is None and given:
        raise NotHere("its axes are computed")
    if not found:
        if lowering.of("noop_with_empty_axes"):
            raise NotHere("it reduces nothing")
        return [*range(rank)]
    return sorted({axis % rank for axis in found})


_MOST_FACTORS = 64


def _product(
    lowering: Lowering, dims: tuple[int | None, ...], axes: list[int], *, keep: bool
) -> Operand:
    """Slices along each axis, multiplied."""
    sizes = [dims[axis] for axis in axes]
    if any(size is None or size > _MOST_FACTORS for size in sizes):
        raise NotHere(f"a product of more than {_MOST_FACTORS}, or of a size that is free")
    result: Operand = lowering.input(0)
    for axis, size in zip(axes, sizes, strict=True):
        parts = [lowering.slice(result, [axis], [i], [i + 1]) for i in range(size or 0)]
        result = lowering.each("Mul", parts)
    if keep:
        return result
    lowering.needs(13, "Squeeze")
    return lowering.new("Squeeze", result, lowering.integers(*axes))
