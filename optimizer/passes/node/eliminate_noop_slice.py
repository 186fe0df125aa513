"""Slices that take everything."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.passes.node.agreement import (
    doubt,
    doubtful_axes,
    normalized,
    numbers,
    shape_of,
    shown,
)
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, given

TO_THE_END = 2**31 - 1
"""INT_MAX: by the specification the end of a dimension of unknown size; INT64_MAX lies above."""


@register
class EliminateNoopSlice(Pass):
    """Remove Slice over the full range.

    What it does:
        A Slice that takes every element of every axis, in order, goes away.
    Before:
        x:batch×12 → Slice(start 0, end INT_MAX, axis 1) → Relu
    After:
        x:batch×12 → Relu
    When it is safe:
        The step is 1 on every axis, and on every axis either the range certainly spans it (start
        0 or not after -size, end at or after the size, or INT_MAX) or the output certainly has the
        size of the input. The steps
        are known; starts and ends need not be when the shapes agree.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Slice, versions 1 to 13.
    """

    id = "eliminate-noop-slice"
    exactness = "exact"
    order = 20

    @rule("Slice", name="FullSlice", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None:
            return None
        steps = _steps(node, context)
        if steps is not None and any(step != 1 for step in steps):
            return _other_step(node, steps, context)
        undecided = _undecided(node, context)
        if undecided is None or len(undecided) > 1:
            return None
        if steps is None:
            return None if undecided else Declined("the steps are not known")
        if not undecided:
            reason = "The range spans every axis, with step 1."
            return Replacement([node], {output: source}, reason)
        return _near_miss(node, undecided[0], context)


def _undecided(node: ir.Node, context: Context) -> list[int] | None:
    """Axes of which a part may be left out; None where it certainly is, or nothing is known."""
    spans = _spans_by_axis(node, context)
    doubtful = doubtful_axes(node.inputs[0], node.outputs[0], context)
    if spans is None:
        return doubtful
    if False in spans.values():
        return None
    unknown = [axis for axis, verdict in spans.items() if verdict is None]
    return unknown if doubtful is None else [axis for axis in unknown if axis in doubtful]


def _spans_by_axis(node: ir.Node, context: Context) -> dict[int, bool | None] | None:
    """Whether the range spans the axis, for each axis it is given for; None if not known."""
    starts, ends = _ints(node, "starts", context), _ints(node, "ends", context)
    axes = _axes(node, context, starts)
    if starts is None or ends is None or axes is None:
        return None
    shape = shape_of(node.inputs[0], context)
    found: dict[int, bool | None] = {}
    for axis, start, end in zip(axes, starts, ends, strict=False):
        known = shape[axis] if shape is not None else None
        found[axis] = _spans(start, end, known if isinstance(known, int) else None)
    return found


def _spans(start: int, end: int, size: int | None) -> bool | None:
    """Whether [start, end) is the whole axis; None where it depends on a size not known."""
    if size is not None:
        return (start == 0 or start <= -size) and end >= size
    if start > 0 or end <= 0:
        return False
    return True if start == 0 and end >= TO_THE_END else None


def _axes(node: ir.Node, context: Context, starts: Sequence[int] | None) -> list[int] | None:
    given = _ints(node, "axes", context)
    if given is None:
        missing = starts is not None and _given(node, "axes") is None
        return list(range(len(starts or ()))) if missing else None
    shape = shape_of(node.inputs[0], context)
    if shape is None:
        return given if all(axis >= 0 for axis in given) else None
    return normalized(given, len(shape))


def _steps(node: ir.Node, context: Context) -> Sequence[int] | None:
    return _ints(node, "steps", context) if _given(node, "steps") is not None else ()


_PLACES = {"starts": 1, "ends": 2, "axes": 3, "steps": 4}


def _given(node: ir.Node, name: str) -> ir.Value | ir.Attr | None:
    """The input that holds a parameter, or the attribute it was before opset 10."""
    if name in node.attributes:
        return node.attributes[name]
    return given(node, _PLACES[name])


def _ints(node: ir.Node, name: str, context: Context) -> list[int] | None:
    given = _given(node, name)
    if isinstance(given, ir.Attr):
        return list(given.as_ints())
    return numbers(given, context)


def _other_step(node: ir.Node, steps: Sequence[int], context: Context) -> Outcome:
    if any(step not in (1, -1) for step in steps):
        return None
    if doubtful_axes(node.inputs[0], node.outputs[0], context) != []:
        return None
    return Declined("the size stays the same, but step -1 reverses the order")


def _near_miss(node: ir.Node, axis: int, context: Context) -> Outcome:
    source, output = node.inputs[0], node.outputs[0]
    doubtful = doubtful_axes(source, output, context)
    if source is not None and doubtful is not None and axis in doubtful:
        text = doubt(source, output, [axis], context=context)
        return Declined(f"the output shape is not known to equal the input shape: {text}")
    shape = shape_of(source, context)
    size = shown(shape[axis]) if shape is not None else "unknown"
    return Declined(f"the range on axis {axis} may not span its size, which is {size}")
