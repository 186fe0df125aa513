"""Layer normalization over channels that are not the last axis, spelled out."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.passes.block import conditions
from optimizer.passes.block.recognize_layer_norm import in_opset_17
from optimizer.patterns import Found, Number, Pattern, Value, either, matches, maybe, node
from optimizer.registry import Pass, register
from optimizer.rules import Context, NewInitializer, NewNode, Outcome, Replacement

LEAST = 32
"""Elements of the axis, from which on a CPU wins what two Transposes cost."""

X = Value("x", sample=(2, LEAST, 3))
MEAN = conditions.reduce_mean(X, "mean", conditions.over_inner_axis("mean", LEAST), axis=1)
CENTERED = node("Sub", X, MEAN, core=True)
VARIANCE = conditions.reduce_mean(
    either(CENTERED**2, CENTERED * CENTERED),
    "variance",
    conditions.same_axes("variance", "mean"),
    axis=1,
)
ROOT = node("Sqrt", VARIANCE + Number(None, name="epsilon", sample=1e-6), core=True)
SCALE, BIAS = (
    Value(
        name,
        (conditions.along_inner_axis(name, "mean"),),
        sample=(LEAST, 1),
        weight=(0.5, 2.0),
    )
    for name in ("scale", "bias")
)


CHANNEL_LAYER_NORM = Pattern(
    "LayerNormalization over channels",
    maybe(
        lambda scaled: scaled + BIAS,
        maybe(
            lambda normalized: normalized * SCALE,
            either(CENTERED / ROOT, CENTERED * node("Reciprocal", ROOT)),
        ),
    ),
    (conditions.of_float_type(),),
)


@register
class RecognizeChannelLayerNorm(Pass):
    """Recognize LayerNormalization over channels.

    What it does:
        Networks of images normalize over the channels at every place (LayerNorm2d in ConvNeXt,
        Segment Anything and many decoders), and exporters spell that out in seven to nine nodes.
        They become a Transpose that puts the channels last, one LayerNormalization, and a
        Transpose back; Transposes around them then merge or cancel.
    Before:
        (x − mean(x, 1)) / √(mean((x − mean(x, 1))², 1) + ε) · scale + bias
    After:
        Transpose(LayerNormalization(Transpose(x), scale, bias))
    When it is safe:
        As `recognize-layer-norm`, with both means over the same axis, which is not the last one
        and has 32 elements or more. Scale and bias are constant, a number for each element.
    Numerics:
        The same mathematics; the runtime may compute the variance as mean(x²) − mean(x)², which
        rounds worse where the mean is much larger than the deviation.
    Source:
        Ba et al. 2016, Layer normalization; Liu et al. 2022, A ConvNet for the 2020s.
    """

    id = "recognize-channel-layer-norm"
    exactness = "reassociates"
    order = 83

    @matches(CHANNEL_LAYER_NORM, name="ChannelLayerNorm")
    def match(self, found: Found, context: Context) -> Outcome:
        """The longest form that does not go on further down."""
        source, axis = found.values["x"], conditions.inner_axis(found, "mean", context)
        sizes = context.symbolic.shape(source)
        assert axis is not None
        assert sizes is not None
        scale, bias = (
            conditions.in_inner_axis(found, name, "mean", context) if name in found.values else None
            for name in ("scale", "bias")
        )
        there = [*(number for number in range(len(sizes)) if number != axis), axis]
        back = [there.index(number) for number in range(len(sizes))]
        first = NewNode("Transpose", [source], {"perm": there})
        operands = [first.output(), scale or _ones(source, sizes[axis]), bias]
        attributes = {"axis": -1, "epsilon": found.numbers["epsilon"]}
        middle = NewNode("LayerNormalization", operands if bias else operands[:2], attributes)
        last = NewNode("Transpose", [middle.output()], {"perm": back})
        done = Replacement(
            [*found.nodes][::-1],
            {found.root.outputs[0]: last.output()},
            f"These {len(found.nodes)} nodes normalize over axis {axis}.",
            [first, middle, last],
        )
        return in_opset_17(done, found, context)


def _ones(source: ir.Value, size: Dimension) -> NewInitializer:
    """A scale where there is none."""
    assert isinstance(size, int)
    assert source.dtype is not None
    return NewInitializer.of(np.ones(size, source.dtype.numpy()), "ones")
