"""GELU spelled out."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.gelu import REACH, Gelu, find_gelu
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement

OPSET = 20
"""The first operator set with Gelu."""


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

    @rule("Mul", "Div", name="ErfGelu", reach=REACH)
    def exact(self, node: ir.Node, context: Context) -> Outcome:
        """The exact form."""
        return _recognized(node, find_gelu(node, "Erf", context), context)

    @rule("Mul", "Div", name="TanhGelu", reach=REACH)
    def approximate(self, node: ir.Node, context: Context) -> Outcome:
        """The approximation."""
        return _recognized(node, find_gelu(node, "Tanh", context), context)


def _recognized(root: ir.Node, found: Gelu | Declined | None, context: Context) -> Outcome:
    if not isinstance(found, Gelu):
        return found
    if context.opset() < OPSET:
        reason = f"Gelu needs opset {OPSET}, the model has opset {context.opset()}"
        return Declined(reason, found.nodes)
    attributes = {"approximate": "tanh"} if found.form == "tanh" else {}
    made = NewNode("Gelu", [found.source], attributes)
    reason = f"These {len(found.nodes)} nodes compute GELU."
    return Replacement(found.nodes, {root.outputs[0]: made.output()}, reason, [made])
