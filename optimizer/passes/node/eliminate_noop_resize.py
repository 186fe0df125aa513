"""Resizes to the same size."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.node.agreement import doubt, doubtful_axes
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, given

_HARMLESS = frozenset(
    {"align_corners", "asymmetric", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel"}
)
"""Coordinate transformations that send every pixel to itself when no size changes."""


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

    @rule("Resize", "Upsample", name="SameSizeResize")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input."""
        source, output = node.inputs[0], node.outputs[0]
        if source is None:
            return None
        scales = _scales(node, context)
        if scales is not None and any(scale != 1 for scale in scales):
            if doubtful_axes(source, output, context) != []:
                return None
            return Declined("the size stays the same, but a scale other than 1 moves the samples")
        if scales is None:
            sizes = given(node, 3)
            doubtful = doubtful_axes(source, output, context)
            if sizes is None or doubtful is None or len(doubtful) > 1:
                return None
            if doubtful:
                text = doubt(source, output, doubtful, context=context)
                return Declined(f"the sizes are not known to equal the input shape: {text}")
        obstacle = _obstacle(node, context)
        if obstacle:
            return Declined(f"no size changes, but {obstacle}")
        return Replacement([node], {output: source}, "No size changes.")


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
