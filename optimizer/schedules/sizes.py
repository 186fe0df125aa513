"""An algorithm at sizes that are numbers: nests are drawn for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.scalar import INDEX, FreeSize, Number, Scalar, rewritten


def at_sizes(algorithm: Algorithm, sizes: Mapping[str, int]) -> Algorithm:
    """The same algorithm with numbers in place of free sizes; those that are not known stay.

    Args:
        algorithm: of any sizes.
        sizes: of the algorithm, or of whoever has the tensors (`Algorithm.sizes`).
    """
    known = dict(sizes)
    for name, told in algorithm.sizes.items():
        size = told if isinstance(told, int) else told.evaluate(sizes)
        known |= {name: size} if isinstance(size, int) else {}

    def number(extent: Dimension) -> Dimension:
        return extent if isinstance(extent, int) else extent.evaluate(known)

    def change(part: Scalar) -> Scalar:
        if isinstance(part, FreeSize) and part.name in known:
            return Number(known[part.name], INDEX)
        return part

    def axes(those: tuple[LoopAxis, ...]) -> tuple[LoopAxis, ...]:
        return tuple(replace(axis, extent=number(axis.extent)) for axis in those)

    def func(one: Func) -> Func:
        reduction = one.reduction
        if reduction is not None:
            reduction = replace(reduction, axes=axes(reduction.axes))
        body = rewritten(one.body, change)
        return replace(one, axes=axes(one.axes), body=body, reduction=reduction)

    inputs = [replace(one, shape=tuple(map(number, one.shape))) for one in algorithm.inputs]
    return replace(
        algorithm, inputs=tuple(inputs), funcs=tuple(map(func, algorithm.funcs)), sizes={}
    )
