"""Operators that copy their only operand, or give it back as their only part."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, Outcome, Replacement


@register
class EliminateNoopConcat(Pass):
    """Remove Concat of a single operand.

    What it does:
        A Concat with one operand copies it; its consumers read the operand directly.
    Before:
        x → Concat(axis 1) → Relu
    After:
        x → Relu
    When it is safe:
        There is exactly one operand. The axis does not matter.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Concat.
    """

    id = "eliminate-noop-concat"
    exactness = "exact"
    order = 20

    @rule("Concat", name="SingleConcat")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the only operand."""
        if len(node.inputs) != 1 or node.inputs[0] is None:
            return None
        reason = "A Concat of one operand copies it."
        return Replacement([node], {node.outputs[0]: node.inputs[0]}, reason)


@register
class EliminateNoopSum(Pass):
    """Remove Sum, Mean, Max and Min of one operand.

    What it does:
        A Sum, Mean, Max or Min with one operand copies it; its consumers read the operand.
    Before:
        x → Sum → Relu
    After:
        x → Relu
    When it is safe:
        There is exactly one operand, counting operands and not distinct values: Sum(x, x) is 2x.
    Numerics:
        Bit-identical: nothing is added, compared or, in a Mean, divided by other than 1.
    Source:
        ONNX operator specification, Sum, Mean, Max and Min.
    """

    id = "eliminate-noop-sum"
    exactness = "exact"
    order = 20

    @rule("Sum", "Mean", "Max", "Min", name="SingleOperand")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the output by the only operand."""
        if len(node.inputs) != 1 or node.inputs[0] is None:
            return None
        reason = f"A {node.op_type} of one operand copies it."
        return Replacement([node], {node.outputs[0]: node.inputs[0]}, reason)


@register
class EliminateNoopSplit(Pass):
    """Remove Split into a single part.

    What it does:
        A Split with one output copies its input; its consumers read the input directly.
    Before:
        x → Split(1 part) → Relu
    After:
        x → Relu
    When it is safe:
        There is exactly one output. The sizes of the parts add up to the size of the axis, so the
        only part is the whole. A Split of which only one of several outputs is used stays.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Split.
    """

    id = "eliminate-noop-split"
    exactness = "exact"
    order = 20

    @rule("Split", name="SingleSplit")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Replace the only output by the input."""
        source = node.inputs[0]
        if source is None or len(node.outputs) != 1:
            return None
        return Replacement([node], {node.outputs[0]: source}, "The only part is the whole.")


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
