"""Softmax, and operators that normalize rows or channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.loops.building import Indices, LoopTensor
from optimizer.loops.formulas import (
    FLOATS,
    add,
    div,
    exp,
    mul,
    number,
    reciprocal,
    square,
    sub,
    wide,
)
from optimizer.loops.scalar import Scalar, apply, cast, index
from optimizer.operators.call import axis_in
from optimizer.operators.loops.reduction import Rows, row_elements
from optimizer.operators.loops.site import LoopRule, NodeLoops

Read = Callable[[Indices], Scalar]


def softmax(site: NodeLoops) -> list[LoopTensor]:
    """exp(a - max) over its sum; along one axis, before operator set 13 along all from it on."""
    data, rows, read, top = _shifted_rows(site)

    def power(indices: Indices) -> Scalar:
        return exp(sub(read(indices), top.at(rows.of_row(indices))))

    powers = site.func(data.shape, power, name="exp")
    total = rows.reduce(site, "sum", powers.at)
    return [
        site.func(
            data.shape,
            lambda i: div(powers.at(i), total.at(rows.of_row(i))),
            dtype=data.dtype,
        )
    ]


def log_softmax(site: NodeLoops) -> list[LoopTensor]:
    """A - max - log(sum of exp(a - max))."""
    data, rows, read, top = _shifted_rows(site)

    def shifted(indices: Indices) -> Scalar:
        return sub(read(indices), top.at(rows.of_row(indices)))

    total = rows.reduce(site, "sum", lambda i: exp(shifted(i)))
    log = site.func(total.shape, lambda i: apply("log", total.at(i)), name="log")
    return [
        site.func(data.shape, lambda i: sub(shifted(i), log.at(rows.of_row(i))), dtype=data.dtype)
    ]


def _shifted_rows(site: NodeLoops) -> tuple[LoopTensor, Rows, Read, LoopTensor]:
    """The data, its rows, its elements, and the largest of each row."""
    data = site.operand(0)
    if data.dtype not in FLOATS:
        raise site.decline(f"has no loops for elements of type {data.dtype.name}")
    rank, modern = len(data.shape), site.call.opset >= 13 or not site.call.opset
    axis = site.call.number("axis", -1 if modern else 1)
    first = rank if axis == rank and not modern else axis_in(axis, rank)
    rows = Rows(data.shape, (first,) if modern else tuple(range(first, rank)))
    read = row_elements(data)
    # NaN makes the sum NaN, and with it all of a row.
    return data, rows, read, rows.reduce(site, "max", read, ignores_nan=True)


@dataclass(frozen=True, slots=True)
class Normalized:
    """Rows less their mean, over their deviation.

    Attributes:
        element: the normalized number, by the indices of the tensor.
        mean: of each row; None where it is not subtracted.
        inverse: one over the deviation of each row.
    """

    element: Read
    mean: LoopTensor | None
    inverse: LoopTensor


def normalized(
    site: NodeLoops, rows: Rows, read: Read, epsilon: float, *, centred: bool = True
) -> Normalized:
    """Rows with mean 0 and variance 1; with a root mean square of 1 where not `centred`."""
    average = _row_mean(site, rows, read, "mean") if centred else None

    def offset(indices: Indices) -> Scalar:
        value = read(indices)
        return value if average is None else sub(value, average.at(rows.of_row(indices)))

    variance = _row_mean(site, rows, lambda i: square(offset(i)), "variance")

    def root(indices: Indices) -> Scalar:
        value = variance.at(indices)
        return reciprocal(apply("sqrt", add(value, number(epsilon, value))))

    inverse = site.func(rows.kept_shape, root, name="inverse_deviation")
    return Normalized(lambda i: mul(offset(i), inverse.at(rows.of_row(i))), average, inverse)


def _row_mean(site: NodeLoops, rows: Rows, read: Read, name: str) -> LoopTensor:
    total = rows.reduce(site, "sum", read, f"{name}_sum")
    return site.func(
        rows.kept_shape, lambda i: div(total.at(i), rows.count(total.dtype)), name=name
    )


def _scaled(read: Read, scale: LoopTensor | None, shift: LoopTensor | None) -> Read:
    """Times a scale, plus a shift, each where it is given."""

    def element(indices: Indices) -> Scalar:
        value = read(indices)
        if scale is not None:
            value = mul(value, cast(scale.at(indices), value.dtype))
        return value if shift is None else add(value, cast(shift.at(indices), value.dtype))

    return element


def last_axes(*, centred: bool) -> LoopRule:
    """The rule of LayerNormalization, or of the one that does not subtract the mean."""

    def rule(site: NodeLoops) -> list[LoopTensor]:
        data, call = site.operand(0), site.call
        rank = len(data.shape)
        rows = Rows(data.shape, tuple(range(axis_in(call.number("axis", -1), rank), rank)))
        scale, shift = site.operand(1), site.optional(2) if centred else None
        made = normalized(
            site, rows, row_elements(data), call.real("epsilon", 1e-5), centred=centred
        )
        scaled = _scaled(made.element, scale.broadcast(data.shape), _along(shift, data.shape))
        result = site.func(data.shape, scaled, dtype=data.dtype)
        stash = [made.mean, made.inverse] if made.mean else [made.inverse]
        return [result, *(rows.spread(one) for one in stash)]

    return rule


def _along(tensor: LoopTensor | None, shape: Sequence[Dimension]) -> LoopTensor | None:
    return None if tensor is None else tensor.broadcast(shape)


def with_skip(*, centred: bool) -> LoopRule:
    """The rule of SkipLayerNormalization, or of the one that does not subtract the mean."""

    def rule(site: NodeLoops) -> list[LoopTensor | None]:
        data = site.operand(0)
        shift, bias = (site.optional(3), site.optional(4)) if centred else (None, site.optional(3))
        total = _sum(site, [data, site.operand(1), bias])
        rows = Rows(data.shape, (len(data.shape) - 1,))
        made = normalized(site, rows, total.at, site.call.real("epsilon", 1e-12), centred=centred)
        scale = site.operand(2).broadcast(data.shape)
        scaled = _scaled(made.element, scale, _along(shift, data.shape))
        result = site.func(data.shape, scaled, dtype=data.dtype)
        mean = rows.spread(made.mean) if made.mean else None
        return [result, mean, rows.spread(made.inverse), _as_type(site, total, data.dtype)]

    return rule


def _sum(site: NodeLoops, terms: Sequence[LoopTensor | None]) -> LoopTensor:
    """Terms that are given, broadcast to the first."""
    given = [term for term in terms if term is not None]
    shape, dtype = given[0].shape, wide(given[0].dtype)
    parts = [term.broadcast(shape) for term in given]
    return site.func(shape, lambda i: add(*(cast(part.at(i), dtype) for part in parts)), name="sum")


def _as_type(site: NodeLoops, tensor: LoopTensor, dtype: ir.DataType) -> LoopTensor:
    return (
        tensor
        if tensor.dtype == dtype
        else LoopTensor(dtype, tensor.shape, lambda i: cast(tensor.at(i), dtype))
    )


def batch_normalization(site: NodeLoops) -> list[LoopTensor]:
    """Each channel less its mean, over its deviation, scaled and shifted; all of them given."""
    call, data = site.call, site.operand(0)
    if call.number("training_mode", 0) or (0 < call.opset < 7) or not call.number("spatial", 1):
        raise site.decline("has loops for inference over channels alone")
    dtype = wide(data.dtype)
    scale, shift, mean, variance = (site.operand(place) for place in range(1, 5))
    epsilon = call.real("epsilon", 1e-5)

    def body(indices: Indices) -> Scalar:
        channel = indices[1:2]
        one, other = (cast(each.at(channel), dtype) for each in (scale, shift))
        spread = cast(variance.at(channel), dtype)
        factor = div(one, apply("sqrt", add(spread, number(epsilon, spread))))
        value = sub(cast(data.at(indices), dtype), cast(mean.at(channel), dtype))
        return cast(add(mul(value, factor), other), data.dtype)

    return [site.func(data.shape, body)]


def instance_normalization(site: NodeLoops) -> list[LoopTensor]:
    """Each channel of each image with mean 0 and variance 1, scaled and shifted by channel."""
    data, scale, shift = (site.operand(place) for place in range(3))
    rows = Rows(data.shape, tuple(range(2, len(data.shape))))
    made = normalized(site, rows, row_elements(data), site.call.real("epsilon", 1e-5))
    by_channel = [one.view(data.shape, lambda i: i[1:2]) for one in (scale, shift)]
    return [site.func(data.shape, _scaled(made.element, *by_channel), dtype=data.dtype)]


def group_normalization(site: NodeLoops) -> list[LoopTensor]:
    """Groups of channels with mean 0 and variance 1; scaled by group before operator set 21."""
    data, scale, shift = (site.operand(place) for place in range(3))
    groups, channels = site.call.number("num_groups", 1), data.shape[1]
    if not isinstance(channels, int) or groups < 1 or channels % groups:
        raise site.decline("has channels of unknown number")
    width = channels // groups
    split = (data.shape[0], groups, width, *data.shape[2:])
    parts = data.view(split, lambda i: [i[0], _joined(i[1], i[2], width), *i[3:]])
    rows = Rows(split, tuple(range(2, len(split))))
    made = normalized(site, rows, row_elements(parts), site.call.real("epsilon", 1e-5))

    def place(i: Indices) -> Indices:
        return [_joined(i[1], i[2], width)] if scale.shape == (channels,) else [i[1]]

    by_channel = [one.view(split, place) for one in (scale, shift)]
    whole = site.func(split, _scaled(made.element, *by_channel), dtype=data.dtype)
    return [whole.view(data.shape, lambda i: [i[0], *_apart(i[1], width), *i[2:]])]


def _joined(outer: Scalar, inner: Scalar, width: int) -> Scalar:
    return add(mul(outer, index(width)), inner)


def _apart(whole: Scalar, width: int) -> Indices:
    return [apply("floor_div", whole, index(width)), apply("floor_mod", whole, index(width))]
