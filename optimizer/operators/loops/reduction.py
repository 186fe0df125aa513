"""Operators that combine elements along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.dimension import Dimension, product
from optimizer.loops.algorithm import ReductionKind, extent_scalar
from optimizer.loops.building import Indices, LoopTensor
from optimizer.loops.formulas import FLOATS, add, choose, div, exp, number, sub, wide
from optimizer.loops.scalar import BOOL, Number, Scalar, apply, cast
from optimizer.operators.loops.site import LoopRule, NodeLoops


@dataclass(frozen=True, slots=True)
class Rows:
    """The axes of a tensor, those that are combined and those that stay.

    Attributes:
        shape: of the tensor.
        axes: which are combined, in their order.
    """

    shape: tuple[Dimension, ...]
    axes: tuple[int, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """Which axes stay."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)

    @property
    def kept_shape(self) -> list[Dimension]:
        """Sizes of the axes that stay."""
        return [self.shape[axis] for axis in self.kept]

    @property
    def along(self) -> list[Dimension]:
        """Sizes of the axes that are combined."""
        return [self.shape[axis] for axis in self.axes]

    def whole(self, kept: Indices, combined: Indices) -> Indices:
        """Indices of the tensor."""
        found = dict(zip((*self.kept, *self.axes), (*kept, *combined), strict=True))
        return [found[axis] for axis in range(len(self.shape))]

    def of_row(self, indices: Indices) -> Indices:
        """Indices of what a row was reduced to, from those of an element in it."""
        return [indices[axis] for axis in self.kept]

    def count(self, dtype: ir.DataType) -> Scalar:
        """How many elements are combined."""
        total = product(self.along)
        if isinstance(total, int):
            return Number(float(total) if dtype in FLOATS else total, dtype)
        return cast(extent_scalar(total), dtype)

    def reduce(
        self,
        site: NodeLoops,
        kind: ReductionKind,
        body: Callable[[Indices], Scalar],
        name: str = "",
        *,
        ignores_nan: bool = False,
    ) -> LoopTensor:
        """Rows combined; `body` gives an element by its indices (see `Reduction`)."""
        return site.reduced(
            kind, self.kept_shape, self.along,
            body=lambda kept, rest: body(self.whole(kept, rest)), name=name,
            ignores_nan=ignores_nan,
        )  # fmt: skip

    def spread(self, reduced: LoopTensor) -> LoopTensor:
        """What rows were reduced to, with extent 1 where they were."""
        shape = [1 if axis in self.axes else size for axis, size in enumerate(self.shape)]
        return reduced.view(shape, self.of_row)


def row_elements(data: LoopTensor) -> Callable[[Indices], Scalar]:
    """Elements in the type that arithmetic with them is done in."""
    return lambda indices: cast(data.at(indices), wide(data.dtype))


Change = Callable[[Scalar], Scalar]


def reducing(
    kind: ReductionKind,
    before: Change | None = None,
    after: Change | None = None,
    *,
    mean: bool = False,
) -> LoopRule:
    """The rule of an operator that combines elements along axes.

    Args:
        kind: how.
        before: what is done to each element; for floating point alone.
        after: what is done to what comes out.
        mean: whether what comes out is divided by the count.
    """

    def rule(site: NodeLoops) -> list[LoopTensor]:
        data = site.operand(0)
        rows = _rows(site, data)
        if rows is None and before is None and after is None:
            return [data]
        if rows is None or ((before or after) and data.dtype not in FLOATS):
            raise site.decline("has loops for floating point and given axes alone")
        read = row_elements(data)

        def element(indices: Indices) -> Scalar:
            return before(read(indices)) if before else read(indices)

        total = rows.reduce(site, _kind_of(kind, data.dtype), element)
        finish = _finish(rows, after, mean=mean)
        if finish or total.dtype != data.dtype:
            total = _finished(site, total, finish, data.dtype)
        return [rows.spread(total) if site.call.number("keepdims", 1) else total]

    return rule


def _finish(rows: Rows, after: Change | None, *, mean: bool) -> Change | None:
    return (lambda a: div(a, rows.count(a.dtype))) if mean else after


def _finished(
    site: NodeLoops, total: LoopTensor, finish: Change | None, dtype: ir.DataType
) -> LoopTensor:
    def body(indices: Indices) -> Scalar:
        value = total.at(indices)
        return finish(value) if finish else value

    return site.func(total.shape, body, dtype=dtype, name="result")


def _rows(site: NodeLoops, data: LoopTensor) -> Rows | None:
    """What is reduced; None where nothing is."""
    axes = site.call.axes("axes", 1, len(data.shape))
    if axes is None:
        raise site.decline("has axes that are not constant")
    if not axes and site.call.number("noop_with_empty_axes", 0):
        return None
    return Rows(data.shape, tuple(sorted(set(axes or range(len(data.shape))))))


def _kind_of(kind: ReductionKind, dtype: ir.DataType) -> ReductionKind:
    booleans: dict[ReductionKind, ReductionKind] = {"max": "any", "min": "all"}
    return booleans.get(kind, kind) if dtype == BOOL else kind


def log_sum_exp(site: NodeLoops) -> list[LoopTensor]:
    """The logarithm of a sum of exponentials, less the largest so that none overflows."""
    data = site.operand(0)
    rows = _rows(site, data)
    if rows is None or data.dtype not in FLOATS:
        raise site.decline("has loops for floating point and given axes alone")
    read = row_elements(data)
    top = rows.reduce(site, "max", read)

    def shift(kept: Indices) -> Scalar:
        value = top.at(kept)
        endless = apply("eq", apply("abs", value), number(math.inf, value))
        return choose(endless, number(0, value), value)

    total = rows.reduce(site, "sum", lambda i: exp(sub(read(i), shift(rows.of_row(i)))))
    result = site.func(
        rows.kept_shape,
        lambda i: add(apply("log", total.at(i)), shift(i)),
        dtype=data.dtype,
        name="result",
    )
    return [rows.spread(result) if site.call.number("keepdims", 1) else result]
