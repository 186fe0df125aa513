"""Normalization by the root of the mean square, spelled out."""

from __future__ import annotations

import numpy as np

from optimizer.passes.block import conditions
from optimizer.patterns import Found, Number, Pattern, Value, either, matches, maybe, node
from optimizer.registry import Pass, register
from optimizer.rules import Context, NewInitializer, NewNode, Operand, Outcome

OPSET = 23
"""The first operator set with RMSNormalization."""

X = Value("x")
SQUARE = either(X**2, X * X)
MEAN = conditions.mean(SQUARE, "mean", conditions.over_last_axes("mean"))
ROOT = node("Sqrt", MEAN + Number(None, name="epsilon", sample=1e-5), core=True)
NORMALIZED = either(
    X / ROOT,
    X * node("Reciprocal", ROOT),
    X * node("Div", 1, ROOT),
)
SCALE = conditions.parameter("scale", "mean")
RMS_NORM = Pattern(
    "RMSNormalization",
    maybe(lambda normalized: normalized * SCALE, NORMALIZED),
    (conditions.of_float_type(), conditions.same_shape("x")),
)


@register
class RecognizeRmsNorm(Pass):
    """Recognize RMSNormalization.

    What it does:
        Exporters spell the normalization of Llama and T5 out in six to eight nodes: square, mean,
        ε, root, quotient, scale. They become one RMSNormalization.
    Before:
        x / √(mean(x²) + ε) · scale
    After:
        RMSNormalization(x, scale)
    When it is safe:
        The model uses opset 23 or later, which has RMSNormalization. The mean runs over the last
        axes, whose sizes are known, and the scale has just those sizes. Nothing else reads the
        values in between.
    Numerics:
        The same mathematics; the runtime's kernel rounds differently.
    Source:
        Zhang and Sennrich 2019, Root mean square layer normalization.
    """

    id = "recognize-rms-norm"
    exactness = "reassociates"
    order = 83

    @matches(RMS_NORM, name="RmsNorm")
    def match(self, found: Found, context: Context) -> Outcome:
        """The longest form that does not go on further down."""
        problem = conditions.older(found, "RMSNormalization", OPSET, context)
        return problem or found.replaced_by(_operator("RMSNormalization", found, context))


def _operator(name: str, found: Found, context: Context) -> NewNode:
    attributes = {
        "axis": conditions.first_axis(found, "mean", context),
        "epsilon": found.numbers["epsilon"],
    }
    return NewNode(name, [found.values["x"], _scale(found, context)], attributes)


def _scale(found: Found, context: Context) -> Operand:
    """The scale in the sizes of the normalized axes; ones where there is none."""
    if "scale" in found.values:
        scale = conditions.in_sizes(found, "scale", "mean", context)
        assert scale is not None, "the condition of the scale holds"
        return scale
    sizes, source = conditions.normalized_sizes(found, "mean", context), found.values["x"]
    assert source.dtype is not None
    return NewInitializer.of(np.ones(sizes, source.dtype.numpy()), "ones")
