"""Mish spelled out."""

from __future__ import annotations

from optimizer.passes.block.conditions import of_float_type, older
from optimizer.patterns import Found, Pattern, Value, matches, node
from optimizer.registry import Pass, register
from optimizer.rules import Context, NewNode, Outcome

OPSET = 18
"""The first operator set with Mish."""

X = Value("x")
CURVE = node("Tanh", node("Softplus", X, core=True), core=True)
MISH = Pattern("Mish", X * CURVE, (of_float_type(),))


@register
class RecognizeMish(Pass):
    """Recognize Mish.

    What it does:
        A value times Tanh of its Softplus becomes ONNX's Mish.
    Before:
        x · Tanh(Softplus(x))
    After:
        Mish(x)
    When it is safe:
        The model uses opset 18 or later, which has Mish. Nothing else reads the values in
        between.
    Numerics:
        The same function; the runtime's kernel may round differently.
    Source:
        Misra 2019, Mish: a self regularized non-monotonic activation function.
    """

    id = "recognize-mish"
    exactness = "reassociates"
    order = 83

    @matches(MISH, name="Mish")
    def match(self, found: Found, context: Context) -> Outcome:
        """Find x · Tanh(Softplus(x))."""
        made = NewNode("Mish", [found.values["x"]])
        return older(found, "Mish", OPSET, context) or found.replaced_by(made)
