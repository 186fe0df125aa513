"""Layer normalization spelled out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from optimizer.model.graph import walk_nodes
from optimizer.passes.block import conditions
from optimizer.passes.wording import described
from optimizer.patterns import (
    Condition,
    Found,
    Number,
    Pattern,
    Value,
    either,
    matches,
    maybe,
    node,
)
from optimizer.registry import Pass, register
from optimizer.rules import Context, Declined, NewInitializer, NewNode, Outcome, Replacement

OPSET = 17
"""The first operator set with LayerNormalization."""

OLDEST = 13
"""From this one to that, operators only gained types and optional inputs and attributes."""

_CHANGED = frozenset({"RoiAlign"})
"""Operators with other defaults in between."""

X = Value("x")
MEAN = conditions.mean(X, "mean", conditions.over_last_axes("mean"))
CENTERED = node("Sub", X, MEAN, core=True)
SQUARE = either(CENTERED**2, CENTERED * CENTERED)
VARIANCE = conditions.mean(SQUARE, "variance", conditions.same_axes("variance", "mean"))
ROOT = node("Sqrt", VARIANCE + Number(None, name="epsilon", sample=1e-5), core=True)
NORMALIZED = either(CENTERED / ROOT, CENTERED * node("Reciprocal", ROOT))
SCALE, BIAS = conditions.parameter("scale", "mean"), conditions.parameter("bias", "mean")
SCALED = maybe(lambda normalized: normalized * SCALE, NORMALIZED)
LAYER_NORM = Pattern(
    "LayerNormalization",
    maybe(lambda scaled: scaled + BIAS, SCALED),
    (conditions.of_float_type(),),
)
GAIN, OFFSET = (Value(name, sample=(4,), weight=(0.5, 2.0)) for name in ("scale", "bias"))
FACTOR = either(GAIN / ROOT, GAIN * node("Reciprocal", ROOT))
SHIFT = either(OFFSET - MEAN * FACTOR, OFFSET + node("Neg", MEAN) * FACTOR)
FACTORED_LAYER_NORM = Pattern(
    "LayerNormalization",
    SHIFT + X * FACTOR,
    (
        conditions.of_float_type(),
        *(conditions.fits_axes(name, "mean") for name in ("scale", "bias")),
    ),
)
"""As TensorFlow and Keras write it: a factor and a shift, both with the scale."""


SPREAD = conditions.mean(
    either(X**2, X * X), "variance", conditions.same_axes("variance", "mean")
) - either(MEAN**2, MEAN * MEAN)
OTHER_ROOT = node(
    "Sqrt",
    either(node("Relu", SPREAD), SPREAD, VARIANCE) + Number(None, name="epsilon", sample=1e-6),
    core=True,
)
JAX_LAYER_NORM = Pattern(
    "LayerNormalization",
    CENTERED * either(GAIN / OTHER_ROOT, GAIN * node("Reciprocal", OTHER_ROOT)) + OFFSET,
    (
        conditions.of_float_type(),
        *(conditions.fits_axes(name, "mean") for name in ("scale", "bias")),
    ),
)
"""As JAX writes it: the variance is the mean square less the squared mean, and never below 0."""


def _over_the_same(found: Found, context: Context) -> str | None:
    axis, rank = context.attribute(found.named["root"], "axis"), context.rank(found.values["x"])
    first = conditions.first_axis(found, "mean", context)
    if isinstance(axis, int) and rank and axis % rank == first:
        return None
    return f"they begin at {first} and at {axis}"


CENTERED_RMS_NORM = Pattern(
    "LayerNormalization",
    maybe(
        lambda normalized: normalized + BIAS,
        node("RMSNormalization", CENTERED, SCALE, name="root", core=True),
    ),
    (
        conditions.of_float_type(),
        Condition("RMSNormalization runs over the axes of the mean", _over_the_same),
    ),
)


@register
class RecognizeLayerNorm(Pass):
    """Recognize LayerNormalization.

    What it does:
        Exporters spell layer normalization out in seven to nine nodes: mean, difference, square,
        mean, ε, root, quotient, scale, bias; TensorFlow and Keras as x · factor + shift; JAX with
        mean(x²) − mean(x)² for the variance. They become one LayerNormalization. So does an
        RMSNormalization of the difference to the mean.
    Before:
        (x − mean(x)) / √(mean((x − mean(x))²) + ε) · scale + bias
    After:
        LayerNormalization(x, scale, bias)
    When it is safe:
        LayerNormalization came with opset 17. A model of opset 13 to 16 moves there with the
        first one, since every operator in it means the same in both; an older one stays as it is.
        The means run over the last axes, whose sizes are known, and scale and bias have just
        those sizes. Nothing else reads the values in between.
    Numerics:
        The same mathematics; the runtime may compute the variance as mean(x²) − mean(x)², which
        rounds worse where the mean is much larger than the deviation.
    Source:
        Ba et al. 2016, Layer normalization; ONNX operator specification.
    """

    id = "recognize-layer-norm"
    exactness = "reassociates"
    order = 82

    @matches(LAYER_NORM, name="LayerNorm")
    def match(self, found: Found, context: Context) -> Outcome:
        """The longest form that does not go on further down."""
        return _recognized(found, context)

    @matches(FACTORED_LAYER_NORM, name="FactoredLayerNorm")
    def factored(self, found: Found, context: Context) -> Outcome:
        """A factor and a shift for each row."""
        return _recognized(found, context)

    @matches(JAX_LAYER_NORM, name="JaxLayerNorm")
    def squares(self, found: Found, context: Context) -> Outcome:
        """A variance from the means of the numbers and of their squares."""
        return _recognized(found, context)

    @matches(CENTERED_RMS_NORM, name="CenteredRmsNorm")
    def centered(self, found: Found, context: Context) -> Outcome:
        """RMSNormalization of what has a mean of 0."""
        found.numbers["epsilon"] = context.number(found.named["root"], "epsilon")
        made = _operator(found, context)
        return found.replaced_by(made, "The mean square of the difference is the variance.")


def _recognized(found: Found, context: Context) -> Outcome:
    """One LayerNormalization, in an operator set that has it."""
    done = found.replaced_by(
        _operator(found, context),
        f"These {len(found.nodes)} nodes normalize over the last axes.",
    )
    return in_opset_17(done, found, context)


def in_opset_17(done: Replacement, found: Found, context: Context) -> Outcome:
    """What has a LayerNormalization, with the move to an operator set that has the operator."""
    if context.opset() >= OPSET:
        return done
    problem = _obstacle(found.root, context)
    if problem is not None:
        reason = f"LayerNormalization needs opset {OPSET}, and {problem}"
        return Declined(reason, tuple(done.matched))
    moved = f"The model now uses opset {OPSET}, in which its operators mean the same."
    return replace(done, reason=f"{done.reason} {moved}", opsets={"": OPSET})


def _operator(found: Found, context: Context) -> NewNode:
    """The one node; a scale that is not there is made of ones."""
    sizes = conditions.normalized_sizes(found, "mean", context)
    source = found.values["x"]
    assert source.dtype is not None
    ones = NewInitializer.of(np.ones(sizes, source.dtype.numpy()), "ones")
    given = [
        conditions.in_sizes(found, name, "mean", context) if name in found.values else None
        for name in ("scale", "bias")
    ]
    inputs = [source, given[0] or ones, *given[1:]]
    attributes = {
        "axis": conditions.first_axis(found, "mean", context),
        "epsilon": found.numbers["epsilon"],
    }
    return NewNode("LayerNormalization", inputs if given[1] else inputs[:2], attributes)


def _obstacle(node: ir.Node, context: Context) -> str | None:
    """Why the model of `node` cannot use opset 17 instead of its own; None when it can.

    The answer is looked up once a round.
    """
    if "obstacle" not in context.memory:
        context.memory["obstacle"] = _find(node, context)
    found = context.memory["obstacle"]
    return None if found is None else str(found)


def _find(node: ir.Node, context: Context) -> str | None:
    if context.opset() < OLDEST:
        return f"between opset {context.opset()} and {OLDEST} operators changed their form"
    assert isinstance(node.graph, ir.Graph)
    *_, outermost = context.scopes(node.graph)
    for other in walk_nodes(outermost):
        if other.domain:
            continue
        training = other.op_type == "BatchNormalization" and len(other.outputs) > 1
        if other.op_type in _CHANGED or training:
            return f"{described(other)} means something else there"
    return None
