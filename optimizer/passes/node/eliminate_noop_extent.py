"""Pad, Resize and Slice that add no element and leave none out."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.passes.node.agreement import (
    Verdict,
    binding,
    bypass,
    doubt,
    doubtful_axes,
    normalized,
    parameter,
    shown,
    unlike,
)
from optimizer.registry import Pass, register
from optimizer.rules import Context, Declined, given

TO_THE_END = 2**31 - 1
"""INT_MAX: by the specification the end of a dimension of unknown size; INT64_MAX lies above."""
_HARMLESS = frozenset(
    {"align_corners", "asymmetric", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"}
)
"""Coordinate transformations that send every pixel to itself when no size changes."""


@register
class EliminateNoopPad(Pass):
    """Remove Pad of zero width.

    What it does:
        A Pad that adds no element on any side goes away, whatever its mode.
    Before:
        x → Pad(pads = [0, 0, 0, 0]) → Conv
    After:
        x → Conv
    When it is safe:
        The pads are known and all 0. Equal shapes are not enough: one element more in front
        and one fewer behind shifts the data.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Pad, versions 1 to 24.
    """

    id = "eliminate-noop-pad"
    exactness = "exact"
    order = 20

    @bypass("Pad", name="ZeroPad")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """No pads."""
        old = "paddings" if "paddings" in node.attributes else "pads"  # opset 1
        pads = parameter(node, old, 1, context)
        if pads is not None and not any(pads):
            return "All pads are 0."
        if doubtful_axes(source, node.outputs[0], context) != []:
            return None
        if pads is None:
            return Declined("the shape stays the same, but the pads are not known")
        return Declined("the shape stays the same, but the pads shift the data")


@register
class EliminateNoopResize(Pass):
    """Remove Resize to the same size.

    What it does:
        A Resize (or the older Upsample) that keeps every size goes away.
    Before:
        x:1×3×8×8 → Resize(scales = [1, 1, 1, 1]) → Conv
    After:
        x:1×3×8×8 → Conv
    When it is safe:
        Every scale is a constant 1, or `sizes` gives certainly the shape of the input. Equal
        shapes do not suffice for scales: 1.1 keeps 8 pixels but samples between them. The
        coordinate transformation sends a pixel to itself (not `tf_crop_and_resize`, not
        `tf_half_pixel_for_nn`), the aspect ratio policy is `stretch`, and nothing is antialiased.
    Numerics:
        Bit-identical: every output pixel is sampled exactly at an input pixel.
    Source:
        ONNX operator specification, Resize, versions 10 to 19, and Upsample, versions 7 to 9.
    """

    id = "eliminate-noop-resize"
    exactness = "exact"
    order = 20

    @bypass("Resize", "Upsample", name="SameSizeResize")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """Scales of 1, or the sizes that are there."""
        scales, doubtful = _scales(node, context), doubtful_axes(source, node.outputs[0], context)
        if scales is not None and any(scale != 1 for scale in scales):
            if doubtful != []:
                return None
            return Declined("the size stays the same, but a scale other than 1 moves the samples")
        if scales is None:
            if given(node, 3) is None or doubtful is None or len(doubtful) > 1:
                return None
            if doubtful:
                text = doubt(node, doubtful, context)
                reason = f"the sizes are not known to equal the input shape: {text}"
                return Declined(reason, unlock=binding(node, doubtful, context))
        obstacle = _obstacle(node, context)
        return Declined(f"no size changes, but {obstacle}") if obstacle else "No size changes."


def _scales(node: ir.Node, context: Context) -> list[float] | None:
    """The constant scales, None where sizes are used instead or the scales are computed."""
    attribute = node.attributes.get("scales")  # Upsample 7
    if attribute is not None:
        return list(attribute.as_floats())
    place = 2 if node.op_type == "Resize" and context.opset() >= 11 else 1
    scales = context.array(given(node, place))
    return None if scales is None or scales.size == 0 else [float(x) for x in scales.reshape(-1)]


def _obstacle(node: ir.Node, context: Context) -> str:
    """Why a Resize without a change of size may still change the data; "" when it cannot."""
    if node.op_type == "Upsample" or context.opset() < 11:
        return ""
    coordinates = context.attribute(node, "coordinate_transformation_mode")
    coordinates = coordinates.decode() if isinstance(coordinates, bytes) else coordinates
    if coordinates not in _HARMLESS:
        return f"{coordinates} moves the sampling points"
    policy = context.attribute(node, "keep_aspect_ratio_policy")
    if policy not in (None, "stretch", b"stretch"):
        return "the aspect ratio policy may choose other sizes"
    return "it is antialiased" if context.attribute(node, "antialias") else ""


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

    @bypass("Slice", name="FullSlice", reach=2)
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """A range that spans every axis."""
        steps = _steps(node, context)
        if steps is not None and any(step != 1 for step in steps):
            return _other_step(node, steps, context)
        undecided = _undecided(node, context)
        if undecided is None or len(undecided) > 1:
            return None
        if steps is None:
            return None if undecided else Declined("the steps are not known")
        if not undecided:
            return "The range spans every axis, with step 1."
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
    shape = context.symbolic.shape(node.inputs[0])
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
    if not _is_given(node, "axes"):
        return None if starts is None else list(range(len(starts)))
    axes, shape = _ints(node, "axes", context), context.symbolic.shape(node.inputs[0])
    if axes is None or shape is not None:
        return axes and normalized(axes, len(shape or ()))
    return axes if all(axis >= 0 for axis in axes) else None


def _steps(node: ir.Node, context: Context) -> Sequence[int] | None:
    return _ints(node, "steps", context) if _is_given(node, "steps") else ()


_PLACES = {"starts": 1, "ends": 2, "axes": 3, "steps": 4}


def _is_given(node: ir.Node, name: str) -> bool:
    """Whether a parameter is there, as an input or the attribute it was before opset 10."""
    return name in node.attributes or given(node, _PLACES[name]) is not None


def _ints(node: ir.Node, name: str, context: Context) -> list[int] | None:
    return parameter(node, name, _PLACES[name], context)


def _other_step(node: ir.Node, steps: Sequence[int], context: Context) -> Verdict:
    if any(step not in (1, -1) for step in steps):
        return None
    if doubtful_axes(node.inputs[0], node.outputs[0], context) != []:
        return None
    return Declined("the size stays the same, but step -1 reverses the order")


def _near_miss(node: ir.Node, axis: int, context: Context) -> Declined:
    doubtful = doubtful_axes(node.inputs[0], node.outputs[0], context)
    if doubtful is not None and axis in doubtful:
        return unlike(node, [axis], context)
    shape = context.symbolic.shape(node.inputs[0])
    size = shown(shape[axis]) if shape is not None else "unknown"
    return Declined(f"the range on axis {axis} may not span its size, which is {size}")
