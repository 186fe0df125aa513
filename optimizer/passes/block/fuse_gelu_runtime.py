"""GELU as ONNX Runtime's own operator."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.gelu import REACH, Gelu, find_gelu
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Outcome, Replacement


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
    presets = ("runtime",)
    order = 81

    @rule("Mul", "Div", name="RuntimeErfGelu", reach=REACH)
    def exact(self, node: ir.Node, context: Context) -> Outcome:
        """The exact form."""
        return _fused(node, find_gelu(node, "Erf", context))

    @rule("Mul", "Div", name="RuntimeTanhGelu", reach=REACH)
    def approximate(self, node: ir.Node, context: Context) -> Outcome:
        """The approximation."""
        return _fused(node, find_gelu(node, "Tanh", context))


def _fused(root: ir.Node, found: Gelu | Declined | None) -> Outcome:
    if not isinstance(found, Gelu):
        return found
    operator = "Gelu" if found.form == "erf" else "FastGelu"
    made = NewNode(operator, [found.source], domain="com.microsoft")
    reason = f"These {len(found.nodes)} nodes compute GELU, which ONNX Runtime has as {operator}."
    return Replacement(found.nodes, {root.outputs[0]: made.output()}, reason, [made])
