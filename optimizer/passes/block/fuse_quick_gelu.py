"""Swish spelled out: a value times its own Sigmoid."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.conditions import of_float_type
from optimizer.patterns import Found, Number, Pattern, Value, either, matches, node
from optimizer.registry import Pass, register
from optimizer.rules import Context, NewNode, Outcome

X = Value("x")
ARGUMENT = either(X, X * Number(None, name="alpha", sample=1.702))
SIGMOID = node("Sigmoid", ARGUMENT, core=True)
SWISH = Pattern("Swish", X * SIGMOID, (of_float_type(ir.DataType.FLOAT),))


@register
class FuseQuickGeluRuntime(Pass):
    """Fuse Swish for ONNX Runtime.

    What it does:
        A value times its own Sigmoid, or times the Sigmoid of a multiple of it, becomes ONNX
        Runtime's QuickGelu.
    Before:
        x · Sigmoid(α · x)
    After:
        com.microsoft.QuickGelu(x)
    When it is safe:
        The model is to run in ONNX Runtime. The element type is float, the one with a kernel on
        a CPU. Nothing else reads the Sigmoid.
    Numerics:
        The same function; the runtime's kernel rounds differently. In no preset: ONNX Runtime
        makes the same by itself at its level `extended`.
    Source:
        ONNX Runtime contrib operators, QuickGelu.
    """

    id = "fuse-quick-gelu-runtime"
    exactness = "reassociates"
    presets = ()
    order = 84

    @matches(SWISH, name="RuntimeSwish")
    def match(self, found: Found, context: Context) -> Outcome:
        """Find x · Sigmoid(α · x)."""
        attributes = {"alpha": found.numbers.get("alpha", 1.0)}
        return found.replaced_by(
            NewNode("QuickGelu", [found.values["x"]], attributes, domain="com.microsoft")
        )
