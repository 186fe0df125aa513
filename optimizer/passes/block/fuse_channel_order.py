"""An order of channels that the weights of a convolution take."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.passes.wording import shared, variable
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    producer_of,
)


@register
class FuseChannelOrder(Pass):
    """Fuse an order of channels into Conv.

    What it does:
        A Gather that puts all channels in another order goes where a Conv reads them: its weights
        take the order instead. After `recognize-space-to-depth`, YOLO's Focus is one operator.
    Before:
        x → SpaceToDepth → Gather(channels) → Conv
    After:
        x → SpaceToDepth → Conv
    When it is safe:
        The indices are a constant with each channel once. The weights are constant, the Conv has
        one group, and nothing else reads the gathered channels.
    Numerics:
        The same products, summed up in another order.
    Source:
        Σ w[k] x[σ(k)] over all k is Σ w[σ⁻¹(c)] x[c] over all c.
    """

    id = "fuse-channel-order"
    exactness = "reassociates"
    order = 69

    @rule("Conv", name="OrderOfChannels", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A convolution of channels in another order."""
        gather = producer_of(node.inputs[0], "Gather")
        if gather is None or context.attribute(gather, "axis") != 1:
            return None
        shape, indices = context.symbolic.shape(gather.inputs[0]), context.ints(gather.inputs[1])
        if shape is None or not indices or shape[1] != len(indices):
            return None
        order = [index % len(indices) for index in indices]
        if sorted(order) != [*range(len(order))]:
            return None
        if context.attribute(node, "group") != 1:
            return Declined(f"The Conv has {context.attribute(node, 'group')} groups", (gather,))
        weight = node.inputs[1]
        obstacle = shared(gather.outputs[0], node) or variable(weight, "weight", context)
        array = context.array(weight)
        if obstacle is not None or weight is None or array is None:
            return obstacle
        ordered = NewInitializer.of(array[:, np.argsort(order)], f"{weight.name}_ordered")
        operands = [gather.inputs[0], ordered, *node.inputs[2:]]
        made = NewNode("Conv", operands, {**node.attributes}, twin=node)
        return Replacement.by(made, "The weights take the order of the channels.", gather, node)
