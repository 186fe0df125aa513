"""Operators that give the same elements another shape."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.dimension import Dimension, Expression, exact_divide, product
from optimizer.operators import contents, kernels
from optimizer.operators.broadcasting import like_first, non_negative, same
from optimizer.operators.call import (
    FRESH,
    UNNAMED,
    Call,
    Contradiction,
    Dim,
    Shape,
    Typed,
    axis_in,
)
from optimizer.operators.loops import views
from optimizer.operators.operator import Operator

BOOL = ir.DataType.BOOL
_Known = tuple[Dimension, ...]


def reshape(call: Call) -> list[Typed]:
    """0 copies the input's size (unless allowzero), -1 takes what is left."""
    data = call.shape(0)
    target = call.numbers("shape") if call.opset < 5 else call.elements(1)
    if target is None:
        length = call.shape(1)
        rank = length[0] if length else None
        return [(call.dtype(0), (None,) * rank if isinstance(rank, int) else None)]
    copies = not call.number("allowzero", 0)
    return [(call.dtype(0), reshaped(data, target, zero_copies=copies))]


def reshaped(data: _Known | None, target: Sequence[Dim], *, zero_copies: bool) -> Shape:
    """The shape that Reshape gives; None where it depends on what is not known."""
    result: list[Dim] = []
    for axis, dim in enumerate(target):
        if dim == 0 and zero_copies:
            result.append(data[axis] if data is not None and axis < len(data) else None)
        elif isinstance(dim, int):
            result.append(None if dim == -1 else dim)
        elif dim is not None and zero_copies and _may_be_zero(dim):
            copied = data is not None and axis < len(data) and data[axis] == dim
            result.append(dim if copied else None)
        else:
            result.append(None if dim is None else _sure(dim))
    if data is None:
        return tuple(result)
    total = product(data)
    unknown = [axis for axis, dim in enumerate(result) if dim is None]
    rest = product(dim for dim in result if dim is not None)
    if len(unknown) == 1:
        # elements are neither lost nor made, so the one unknown size follows from the others
        result[unknown[0]] = exact_divide(total, rest)
    elif not unknown and isinstance(total, int) and isinstance(rest, int) and total != rest:
        raise Contradiction(f"{total} elements reshaped to {rest}")
    return tuple(result)


def _may_be_zero(dim: Dimension) -> bool:
    """Whether a size may be 0 that is no number."""
    names = dim.symbols() if isinstance(dim, Expression) else ()
    return any(name.startswith(FRESH) and not name.startswith(UNNAMED) for name in names)


def _sure(dim: Dimension) -> Dim:
    """A size in a Reshape target: one that might be negative could mean -1."""
    return dim if isinstance(dim, int) else non_negative(dim)


def squeeze(call: Call) -> list[Typed]:
    """Remove axes of size 1: those given, else all of them."""
    data = call.shape(0)
    axes = None if data is None else call.axes("axes", 1, len(data))
    if data is None or axes is None:
        return [(call.dtype(0), None)]
    if not axes:
        if not all(isinstance(dim, int) for dim in data):
            return [(call.dtype(0), None)]
        axes = tuple(axis for axis, dim in enumerate(data) if dim == 1)
    for axis in axes:
        same(data[axis], 1)
    return [(call.dtype(0), tuple(dim for axis, dim in enumerate(data) if axis not in axes))]


def unsqueeze(call: Call) -> list[Typed]:
    """Insert axes of size 1, counted in the result."""
    data = call.shape(0)
    given = call.numbers("axes") or call.integers(1)
    if data is None or given is None:
        return [(call.dtype(0), None)]
    rank = len(data) + len(given)
    axes = {axis_in(axis, rank) for axis in given}
    if len(axes) != len(given):
        raise Contradiction("the same axis is inserted twice")
    rest = iter(data)
    return [(call.dtype(0), tuple(1 if axis in axes else next(rest) for axis in range(rank)))]


def flatten(call: Call) -> list[Typed]:
    """Two axes: everything before `axis`, everything from it on."""
    data = call.shape(0)
    if data is None:
        return [(call.dtype(0), (None, None))]
    axis = call.number("axis", 1)
    axis = axis + len(data) if axis < 0 else axis
    return [(call.dtype(0), (product(data[:axis]), product(data[axis:])))]


def dropout(call: Call) -> list[Typed]:
    """The data and, since operator set 10, a mask of booleans."""
    mask = BOOL if call.opset >= 10 else call.dtype(0)
    return [(call.dtype(0), call.shape(0)), (mask, call.shape(0))]


_VIEW = Operator(
    contents=contents.rearranged, category="shape", any_type=True,
    result="view", carries=True, shape_inputs=(1,), precision="safe",
    integer="keeps", loops=views.reshaped,
)  # fmt: skip

OPERATORS = (
    _VIEW.named("Reshape", types=reshape, kernel=kernels.reshape, layout="sensitive"),
    _VIEW.named(
        "Flatten", types=flatten, kernel=kernels.flatten, shape_inputs=(), layout="sensitive"
    ),
    _VIEW.named("Squeeze", types=squeeze, kernel=kernels.squeeze, layout="follows"),
    _VIEW.named("Unsqueeze", types=unsqueeze, kernel=kernels.unsqueeze, layout="follows"),
    _VIEW.named(
        "Identity", types=like_first, contents=contents.rearranged,
        kernel=kernels.unary(lambda x: x), shape_inputs=(), overwrites="first", unary=True,
        loops=views.identity,
        layout="agnostic",
    ),
    Operator(
        "Dropout", dropout, category="shape", result="view", layout="agnostic", precision="safe",
        loops=views.dropout,
    ),
)  # fmt: skip
