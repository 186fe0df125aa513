"""Operators that copy their only operand, or give it back as their only part."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.passes.node.agreement import Verdict, bypass
from optimizer.registry import Pass, register
from optimizer.rules import Context, Declined, given


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

    @bypass("Identity", name="Identity")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """Always."""
        return "Identity copies its input."


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

    @bypass("Concat", name="SingleConcat")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """One operand."""
        return "A Concat of one operand copies it." if len(node.inputs) == 1 else None


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

    @bypass("Sum", "Mean", "Max", "Min", name="SingleOperand")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """One operand."""
        return f"A {node.op_type} of one operand copies it." if len(node.inputs) == 1 else None


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

    @bypass("Split", name="SingleSplit")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """One output."""
        return "The only part is the whole." if len(node.outputs) == 1 else None


@register
class EliminateDropout(Pass):
    """Remove Dropout at inference.

    What it does:
        A Dropout that drops nothing copies its data; its consumers read the data directly.
    Before:
        x → Dropout(ratio 0.1) → MatMul
    After:
        x → MatMul
    When it is safe:
        The node does not train: before opset 12, opset 7 and later never do and older ones say
        `is_test`; from opset 12 on, `training_mode` is missing or a constant false, or `ratio` is
        a constant 0. Nothing reads the mask, its second output.
    Numerics:
        Bit-identical.
    Source:
        ONNX operator specification, Dropout, versions 1 to 22.
    """

    id = "eliminate-dropout"
    exactness = "exact"
    order = 10

    @bypass("Dropout", name="InferenceDropout")
    def match(self, node: ir.Node, source: ir.Value, context: Context) -> Verdict:
        """The data output is the data."""
        why, inactive = _inactive(node, context)
        if not inactive:
            return Declined(why)
        if len(node.outputs) > 1 and is_used(node.outputs[1]):
            return Declined("the mask, its second output, is used")
        return why


def _inactive(node: ir.Node, context: Context) -> tuple[str, bool]:
    """Whether the node drops nothing, and the sentence that says why or why not."""
    if context.opset() < 7:
        if context.attribute(node, "is_test"):
            return "The node says is_test: it copies its input.", True
        return "the node does not say is_test, so it trains", False
    if context.opset() < 12:
        return "Before opset 12 Dropout is for inference only: it copies its input.", True
    ratio, mode = given(node, 1), given(node, 2)
    if mode is None:
        return "Without training_mode Dropout copies its input.", True
    if ratio is not None and context.scalar(ratio) == 0:
        return "With ratio 0 Dropout copies its input.", True
    if not context.is_constant(mode):
        return "training_mode is not a constant", False
    if context.scalar(mode) == 0:
        return "With training_mode false Dropout copies its input.", True
    return "training_mode is true, so elements are dropped at random", False
