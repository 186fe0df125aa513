"""Scale and shift around a convolution."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.channels import (
    CONVOLUTIONS,
    Affine,
    along_channels,
    output_channels,
    unknown_weights,
    with_inputs_scaled,
    with_outputs_scaled,
)
from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement, producer_of

_ZERO, _ONE = np.zeros(1), np.ones(1)


@register
class FuseConvScaleShift(Pass):
    """Fuse a scale or shift into Conv.

    What it does:
        A Mul, Div, Add or Sub by one constant per channel, or by a scalar, goes into the weight
        and bias of the Conv or ConvTranspose before it; a Mul or Div also into the one after it.
    Before:
        Conv → Mul(s) → Add(t)
    After:
        Conv
    When it is safe:
        The constant varies along the channels alone: [C, 1, 1] does for images, [C] does not, it
        runs along the width. Nothing else reads the value in between. Weight and bias are
        constants that no caller overrides. Before a Conv only a scale may go: padding with zeros
        comes after it, and zero stays zero.
    Numerics:
        The same mathematics. New weights are computed in float64 and rounded once; outputs
        differ in the last bits of the element type.
    Source:
        s (Wx + b) + t = (sW) x + (sb + t); W (sx) = (Ws) x.
    """

    id = "fuse-conv-scale-shift"
    exactness = "reassociates"
    order = 86

    @rule("Mul", "Div", "Add", "Sub", name="ConvScaleShift")
    def after(self, node: ir.Node, context: Context) -> Outcome:
        """A convolution, then the constant."""
        for position, value in enumerate(node.inputs[:2]):
            conv = producer_of(value, *CONVOLUTIONS)
            constant = node.inputs[1 - position]
            if conv is not None and context.is_constant(constant) and value is not None:
                return _after(node, conv, position, context)
        return None

    @rule(*CONVOLUTIONS, name="ScaleConv")
    def before(self, node: ir.Node, context: Context) -> Outcome:
        """A Mul or Div by a constant, then the convolution."""
        scaling = producer_of(node.inputs[0], "Mul", "Div")
        if scaling is None:
            return None
        position = 1 if context.is_constant(scaling.inputs[0]) else 0
        source, constant = scaling.inputs[position], scaling.inputs[1 - position]
        if source is None or not context.is_constant(constant):
            return None
        if scaling.op_type == "Div" and position == 1:
            return None
        return _before(node, scaling, (source, constant), context)


def _after(node: ir.Node, conv: ir.Node, position: int, context: Context) -> Outcome:
    if node.op_type == "Div" and position == 1:  # a constant over the output of a Conv
        return None
    blocked = shared(conv.outputs[0], node) or unknown_weights(conv, context)
    if blocked is not None:
        return blocked
    constant = node.inputs[1 - position]
    data = _along_channels(constant, conv, context)
    if isinstance(data, Declined):
        return data
    if data.size not in (1, output_channels(conv, context)):
        return Declined("The constant would add channels to the Conv output", (conv,))
    hint = constant.name if constant is not None and constant.name else "bias"
    affine = _affine(node.op_type, data, position, hint)
    if affine is None:
        return Declined("The constant holds zeros to divide by, or is not finite", (conv,))
    made = with_outputs_scaled(conv, affine, context)
    change = "scales" if node.op_type in ("Mul", "Div") else "shifts"
    reason = f"{node.op_type} {change} each channel: that goes into the weights of {conv.op_type}."
    return _replaced((conv, node), made, reason)


def _affine(operator: str, data: np.ndarray, position: int, hint: str) -> Affine | None:
    """What the node does to the Conv output, which is its input number `position`."""
    if not np.isfinite(data).all() or (operator == "Div" and not data.all()):
        return None
    match operator:
        case "Mul":
            return Affine(data, _ZERO, hint)
        case "Div":
            return Affine(1.0 / data, _ZERO, hint)
        case "Add":
            return Affine(_ONE, data, hint)
        case _:
            return Affine(_ONE, -data, hint) if position == 0 else Affine(-_ONE, data, hint)


def _before(
    conv: ir.Node, scaling: ir.Node, operands: tuple[ir.Value, ir.Value | None], context: Context
) -> Outcome:
    source, constant = operands
    blocked = shared(scaling.outputs[0], conv) or unknown_weights(conv, context)
    if blocked is not None:
        return blocked
    data = _along_channels(constant, conv, context)
    if isinstance(data, Declined):
        return data
    if not _keeps_shape(source, scaling.outputs[0], data.size, context):
        return Declined(f"{scaling.op_type} may change the shape of its input", (scaling,))
    if not np.isfinite(data).all() or (scaling.op_type == "Div" and not data.all()):
        return Declined("The constant holds zeros to divide by, or is not finite", (scaling,))
    made = with_inputs_scaled(conv, 1.0 / data if scaling.op_type == "Div" else data, context)
    if isinstance(made, NewNode):
        made = NewNode(made.op_type, [source, *made.inputs[1:]], made.attributes)
    reason = f"{scaling.op_type} scales each input channel: that goes into the weights."
    return _replaced((scaling, conv), made, reason)


def _keeps_shape(source: ir.Value, scaled: ir.Value, size: int, context: Context) -> bool:
    """Whether multiplying by one number per channel leaves the shape as it is."""
    before, after = context.symbolic.shape(source), context.symbolic.shape(scaled)
    if before is None or after is None or len(before) != len(after):
        return False
    return size == 1 or (len(before) > 1 and before[1] == size)


def _along_channels(
    constant: ir.Value | None, conv: ir.Node, context: Context
) -> np.ndarray | Declined:
    array, weight = context.array(constant), context.array(conv.inputs[1])
    if array is None or weight is None:
        return Declined("The constant is not a plain tensor", (conv,))
    data = along_channels(array, weight.ndim)
    if data is None:
        shape = ", ".join(map(str, array.shape))
        return Declined(f"The constant, [{shape}], does not run along the channels", (conv,))
    return data


def _replaced(matched: tuple[ir.Node, ...], made: NewNode | Declined, reason: str) -> Outcome:
    return made if isinstance(made, Declined) else Replacement.by(made, reason, *matched)
