"""Conditions that patterns of several passes have: types, shapes, axes of a mean."""

from __future__ import annotations

import math

import onnx_ir as ir

from optimizer.patterns import Condition, Found, Parameter, Term, Value, either, node
from optimizer.rules import Context, Declined, NewInitializer, Operand

_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16)


def of_float_type(*types: ir.DataType) -> Condition:
    """The last node computes in one of these types, by default float, float16 and bfloat16."""
    wanted = types or _FLOATS

    def check(found: Found, context: Context) -> str | None:
        dtype = found.root.outputs[0].dtype
        return None if dtype in wanted else f"it is {dtype.name.lower() if dtype else 'not known'}"

    listed = ", ".join(dtype.name.lower() for dtype in wanted)
    return Condition(f"The element type is one of {listed}", check)


def same_shape(name: str) -> Condition:
    """The result has the shape of a value: nothing is broadcast to something larger."""

    def check(found: Found, context: Context) -> str | None:
        mine = context.symbolic.shape(found.values[name])
        whole = context.symbolic.shape(found.root.outputs[0])
        return None if mine == whole else f"{plain(mine)} becomes {plain(whole)}"

    return Condition(f"The result has the shape of {name}", check)


def older(
    found: Found, operator: str, opset: int, context: Context, *, unlock: str = ""
) -> Declined | None:
    """Why an operator cannot be used in the model; None where its operator set has it."""
    if context.opset() >= opset:
        return None
    reason = f"{operator} needs opset {opset}, the model has opset {context.opset()}"
    return Declined(reason, (*found.nodes,), unlock)


def plain(shape: object) -> str:
    """A shape for people."""
    if not isinstance(shape, tuple | list):
        return "a shape that is not known"
    return f"[{', '.join(map(str, shape))}]"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - dimensions of any kind


def _told(value: ir.Value, context: Context) -> str:
    """Shape and type of a value that does not fit, for people."""
    return f"{plain(context.symbolic.shape(value))}, {value.dtype or 'no type'}"


def mean(of: Term, name: str, *where: Condition) -> Term:
    """A mean that keeps its axes; in the smallest model it runs over the last one.

    tf2onnx writes one over all axes but the first two as GlobalAveragePool.
    """
    return either(
        reduce_mean(of, name, *where), node("GlobalAveragePool", of, name=name, where=where)
    )


def reduce_mean(of: Term, name: str, *where: Condition, axis: int = -1) -> Term:
    """A mean that keeps its axes; in the smallest model it runs over this one."""
    axes, kept = Parameter("axes", 1, (axis,)), {"keepdims": 1}
    return node("ReduceMean", of, name=name, where=where, settings=kept, parameters=[axes])


def _axes(reduction: ir.Node, rank: int | None, context: Context) -> list[int]:
    """What a mean runs over; none where that is not known."""
    if reduction.op_type == "GlobalAveragePool":
        return [*range(2, rank or 0)]
    return context.parameter(reduction, "axes", 1) or []


def parameter(name: str, reduction: str) -> Value:
    """A scale or bias of the axes that a reduction runs over."""
    return Value(name, (fits_axes(name, reduction),), sample=(4,), weight=(0.5, 2.0))


def over_last_axes(mean: str) -> Condition:
    """A reduction runs over the last axes and keeps them; their sizes are known."""

    def check(found: Found, context: Context) -> str | None:
        reduction = found.named[mean]
        source = reduction.inputs[0]
        rank = context.rank(source)
        axes = _axes(reduction, rank, context)
        if rank is None or not axes:
            return "axes or rank are not known"
        if first_axis(found, mean, context) is None:
            return f"it runs over {plain(axes)} of {rank} axes"
        sizes = context.symbolic.shape(source) or ()
        unknown = [size for size in sizes[rank - len(axes) :] if not isinstance(size, int)]
        return f"the size {unknown[0]} is not known" if unknown else None

    return Condition("The mean runs over the last axes, of known sizes", check)


def over_inner_axis(mean: str, least: int) -> Condition:
    """A reduction runs over one axis, not the last one, of at least so many elements."""

    def check(found: Found, context: Context) -> str | None:
        source = found.named[mean].inputs[0]
        sizes, axis = context.symbolic.shape(source), inner_axis(found, mean, context)
        if sizes is None:
            return "the rank is not known"
        if axis is None:
            return f"it runs over {plain(_axes(found.named[mean], len(sizes), context))}"
        size = sizes[axis]
        return None if isinstance(size, int) and size >= least else f"it has {size}"

    return Condition(f"The mean runs over one axis before the last, of {least} or more", check)


def inner_axis(found: Found, mean: str, context: Context) -> int | None:
    """The one axis that a reduction runs over, if it is not the last one."""
    reduction = found.named[mean]
    rank = context.rank(reduction.inputs[0])
    axes = _axes(reduction, rank, context)
    if rank is None or len(axes) != 1:
        return None
    return axes[0] % rank if axes[0] % rank < rank - 1 else None


def along_inner_axis(name: str, mean: str) -> Condition:
    """A value is constant and has a number for each element of the axis that a mean runs over."""

    def check(found: Found, context: Context) -> str | None:
        fits = in_inner_axis(found, name, mean, context) is not None
        return None if fits else _told(found.values[name], context)

    return Condition(f"The {name} is constant, a number for each element of that axis", check)


def in_inner_axis(found: Found, name: str, mean: str, context: Context) -> NewInitializer | None:
    """Scale or bias with one axis; None where it does not fit that of the mean."""
    value, source = found.values[name], found.named[mean].inputs[0]
    data, sizes = context.array(value), context.symbolic.shape(source)
    axis = inner_axis(found, mean, context)
    if data is None or sizes is None or axis is None or source is None:
        return None
    place = data.ndim - (len(sizes) - axis)
    if not 0 <= place <= axis or value.dtype != source.dtype:
        return None
    if data.shape[place] != data.size or data.size != sizes[axis]:
        return None
    return NewInitializer.of(data.reshape(-1), value.name or name)


def same_axes(second: str, first: str) -> Condition:
    """Two reductions run over the same axes."""

    def check(found: Found, context: Context) -> str | None:
        nodes = [found.named[name] for name in (first, second)]
        ranks = [context.rank(node.inputs[0]) for node in nodes]
        axes = [
            sorted(axis % (rank or 1) for axis in _axes(node, rank, context))
            for node, rank in zip(nodes, ranks, strict=True)
        ]
        same = ranks[0] == ranks[1] and axes[0] == axes[1]
        return None if same else f"they run over {plain(axes[0])} and {plain(axes[1])}"

    return Condition(f"The {second} runs over the axes of the {first}", check)


def first_axis(found: Found, mean: str, context: Context) -> int | None:
    """The first of the axes that a reduction runs over, if they are the last ones."""
    reduction = found.named[mean]
    rank = context.rank(reduction.inputs[0])
    axes = _axes(reduction, rank, context)
    if rank is None or not axes:
        return None
    chosen = sorted(axis % rank for axis in axes)
    return chosen[0] if chosen == list(range(chosen[0], rank)) else None


def normalized_sizes(found: Found, mean: str, context: Context) -> tuple[int, ...]:
    """Sizes of the axes that a reduction runs over."""
    axis = first_axis(found, mean, context)
    sizes = context.symbolic.shape(found.named[mean].inputs[0])
    assert axis is not None, "the condition `over_last_axes` holds"
    assert sizes is not None
    return tuple(size for size in sizes[axis:] if isinstance(size, int))


def fits_axes(name: str, mean: str) -> Condition:
    """A value has just the sizes of the axes that a reduction runs over."""

    def check(found: Found, context: Context) -> str | None:
        fits = in_sizes(found, name, mean, context) is not None
        return None if fits else _told(found.values[name], context)

    return Condition(f"The {name} has the sizes and type of the normalized axes", check)


def in_sizes(found: Found, name: str, mean: str, context: Context) -> Operand | None:
    """Scale or bias in the shape of the normalized axes; None where it does not fit them."""
    sizes = normalized_sizes(found, mean, context)
    value, source = found.values[name], found.named[mean].inputs[0]
    assert source is not None
    shape = context.symbolic.shape(value)
    if shape is None or value.dtype != source.dtype:
        return None
    if shape == sizes:
        return value
    data, rank = context.array(value), len(context.symbolic.shape(source) or ())
    if data is None or data.ndim > rank:
        return None
    if data.shape[-len(sizes) :] != sizes or data.size != math.prod(sizes):
        return None
    return NewInitializer.of(data.reshape(sizes), value.name or name)
