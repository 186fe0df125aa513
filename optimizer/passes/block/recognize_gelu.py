"""GELU spelled out, exactly or by its tanh approximation, in any association and order."""

from __future__ import annotations

import math

from optimizer.passes.block.conditions import of_float_type, older, same_shape
from optimizer.patterns import Formula, Found, Number, Pattern, Term, Value, matches, node
from optimizer.registry import Pass, register
from optimizer.rules import Context, NewNode, Outcome

OPSET = 20
"""The first operator set with Gelu."""

OLDER = "For an older opset fuse-gelu-runtime makes ONNX Runtime's own Gelu (presets cpu and cuda)."
"""What a user can do without raising the opset."""

X = Value("x")


def _gelu(curve: str, argument: Term) -> Pattern:
    """Half of x · (1 + curve(argument))."""
    whole = X * (1 + node(curve, argument, core=True)) * 0.5
    return Pattern("Gelu", Formula(whole), (of_float_type(), same_shape("x")), ends=("Div", "Mul"))


ERF = _gelu("Erf", Formula(X * Number(math.sqrt(0.5), "1/√2")))
"""The exact form."""

TANH = _gelu(
    "Tanh", Formula((X + X**3 * Number(0.044715)) * Number(math.sqrt(2 / math.pi), "√(2/π)"))
)
"""The approximation."""


@register
class RecognizeGelu(Pass):
    """Recognize Gelu.

    What it does:
        Exporters spell GELU out with Erf, or with Tanh in its approximation, in five to eight
        nodes. They become ONNX's Gelu. Associations and the order of operands do not matter: the
        formula is compared as a polynomial.
    Before:
        x · 0.5 · (1 + Erf(x / √2))
    After:
        Gelu(x)
    When it is safe:
        The model uses opset 20 or later, which has Gelu. Nothing else reads the values in
        between. The constants are GELU's, to the precision of the element type.
    Numerics:
        The same function; the runtime's kernel rounds differently.
    Source:
        Hendrycks and Gimpel 2016, Gaussian error linear units.
    """

    id = "recognize-gelu"
    exactness = "reassociates"
    order = 80

    @matches(ERF, name="ErfGelu")
    def exact(self, found: Found, context: Context) -> Outcome:
        """The exact form."""
        return _recognized(found, context)

    @matches(TANH, name="TanhGelu")
    def approximate(self, found: Found, context: Context) -> Outcome:
        """The approximation."""
        return _recognized(found, context, approximate="tanh")


def _recognized(found: Found, context: Context, **attributes: str) -> Outcome:
    made = NewNode("Gelu", [found.values["x"]], attributes)
    reason = f"These {len(found.nodes)} nodes compute GELU."
    problem = older(found, "Gelu", OPSET, context, unlock=OLDER)
    return problem or found.replaced_by(made, reason)


@register
class FuseGeluRuntime(Pass):
    """Fuse Gelu for ONNX Runtime.

    What it does:
        GELU spelled out becomes ONNX Runtime's Gelu, or FastGelu for the tanh approximation. For
        models older than opset 20, where ONNX has no Gelu of its own.
    Before:
        x · 0.5 · (1 + Erf(x / √2))
    After:
        com.microsoft.Gelu(x)
    When it is safe:
        The model is to run in ONNX Runtime. Nothing else reads the values in between. The
        constants are GELU's, to the precision of the element type.
    Numerics:
        The same function; the runtime's kernel rounds differently.
    Source:
        ONNX Runtime contrib operators, Gelu and FastGelu; Hendrycks and Gimpel 2016.
    """

    id = "fuse-gelu-runtime"
    exactness = "reassociates"
    presets = ("cpu", "cuda", "generated")
    order = 81

    @matches(ERF, name="RuntimeErfGelu")
    def exact(self, found: Found, context: Context) -> Outcome:
        """The exact form."""
        return _fused(found, "Gelu")

    @matches(TANH, name="RuntimeTanhGelu")
    def approximate(self, found: Found, context: Context) -> Outcome:
        """The approximation."""
        return _fused(found, "FastGelu")


def _fused(found: Found, operator: str) -> Outcome:
    made = NewNode(operator, [found.values["x"]], domain="com.microsoft")
    reason = f"These {len(found.nodes)} nodes compute GELU, which ONNX Runtime has as {operator}."
    return found.replaced_by(made, reason)
