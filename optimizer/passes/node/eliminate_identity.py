"""Identity."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


@register
class EliminateIdentity(Pass):
    """Remove Identity.

    What it does:
        Consumers of an Identity read its input directly.
    Before:
        x → Identity → Relu
    After:
        x → Relu
    When it is safe:
        Always, except where the graph's own interface needs the copy: a graph input or an
        initializer that is also a graph output keeps its Identity, and so do two graph outputs
        with the same value.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Identity.
    """

    id = "eliminate-identity"
    exactness = "exact"
    order = 10

    @rule("Identity", name="Identity")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the input."""
        source = node.inputs[0]
        if source is None:
            return None
        return Replacement([node], {node.outputs[0]: source}, "Identity copies its input.")
