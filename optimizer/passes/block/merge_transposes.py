"""Transposes."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.folding.reshape_target import reshape_target
from optimizer.operators.catalogue import UNARY
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    transposition,
)


@register
class MergeTransposes(Pass):
    """Merge Transpose chains.

    What it does:
        Transposes in a row become one, or none when they undo each other, also around an
        elementwise operator. A Transpose that only moves axes of size 1 becomes a Reshape, which
        copies nothing.
    Before:
        x → Transpose(0, 2, 1, 3) → Transpose(0, 2, 1, 3) → Softmax
    After:
        x → Softmax
    When it is safe:
        Always; a chain is merged only while nothing else reads its intermediate results. For the
        Reshape the sizes have to be known well enough to write its target as a constant.
    Numerics:
        Bit-identical: data is moved, never computed.
    Source:
        ONNX operator specification, Transpose: out.shape[i] = in.shape[perm[i]].

    Attributes:
        reshape_unit_axes: whether a Transpose that only moves axes of size 1 becomes a Reshape.
    """

    id = "merge-transposes"
    exactness = "exact"
    order = 20

    reshape_unit_axes: bool = True

    @rule("Transpose", name="TransposeChain", reach=2)
    def chain(self, node: ir.Node, context: Context) -> Outcome:
        """Compose a run of Transposes, wherever in it the question comes from."""
        last = node
        while (below := _only_consumer(last, context)) is not None and below.op_type == "Transpose":
            last = below
        perm = transposition(last, context)
        first = _producer(last, "Transpose")
        if perm is None or first is None:
            return None
        matched = [last]
        while first is not None and (above := transposition(first, context)) is not None:
            inverse = [above[axis] for axis in perm] == list(range(len(perm)))
            if not inverse and not context.single_use(first.outputs[0]):
                break
            perm = [above[axis] for axis in perm]
            matched.append(first)
            if not context.single_use(first.outputs[0]):
                break
            first = _producer(first, "Transpose")
        return _composed(matched, perm) if len(matched) > 1 else None

    @rule("Transpose", name="TransposeAroundElementwise", reach=3)
    def around(self, node: ir.Node, context: Context) -> Outcome:
        """Two Transposes that undo each other across an elementwise operator."""
        middle = _producer(node)
        if middle is None or middle.op_type not in UNARY or len(middle.inputs) != 1:
            return None
        first = _producer(middle, "Transpose")
        if first is None or not context.single_use(middle.outputs[0]):
            return None
        above, perm = transposition(first, context), transposition(node, context)
        if above is None or perm is None or len(above) != len(perm):
            return None
        if [above[axis] for axis in perm] != list(range(len(perm))):
            return None
        again = NewNode(middle.op_type, [first.inputs[0]], dict(middle.attributes))
        reason = (
            f"{middle.op_type} works element by element, so the two Transposes around it cancel."
        )
        return Replacement.by(again, reason, first, middle, node)

    @rule("Transpose", name="TransposeOfUnitAxes", reach=1)
    def unit_axes(self, node: ir.Node, context: Context) -> Outcome:
        """A Transpose that leaves the elements in their order."""
        data, perm = node.inputs[0], transposition(node, context)
        if not self.reshape_unit_axes or data is None or perm is None or context.opset() < 5:
            return None
        shape = data.shape
        if shape is None or 1 not in shape or context.is_constant(data):
            return None
        moved = [axis for axis in perm if shape[axis] != 1]
        if moved != sorted(moved) or perm == sorted(perm):
            return None
        source = context.symbolic.shape(data)
        if source is None:
            return None
        target = reshape_target(source, tuple(source[axis] for axis in perm))
        if target is None:
            return None
        sizes = NewInitializer.ints(target, f"{data.name}_shape")
        reason = "Only axes of size 1 move, so the elements keep their order."
        return Replacement.by(NewNode("Reshape", [data, sizes]), reason, node)


def _composed(matched: list[ir.Node], perm: list[int]) -> Replacement:
    source, output = matched[-1].inputs[0], matched[0].outputs[0]
    assert source is not None
    if perm == sorted(perm):
        reason = f"{len(matched)} Transposes in a row undo each other."
        return Replacement(matched, {output: source}, reason)
    merged = NewNode("Transpose", [source], {"perm": perm})
    reason = f"{len(matched)} Transposes in a row are one Transpose by {perm}."
    return Replacement(matched, {output: merged.output()}, reason, nodes=[merged])


def _producer(node: ir.Node, op_type: str | None = None) -> ir.Node | None:
    value = node.inputs[0]
    producer = None if value is None else value.producer()
    if producer is None or producer.domain or producer.graph is not node.graph:
        return None
    return producer if op_type in (None, producer.op_type) else None


def _only_consumer(node: ir.Node, context: Context) -> ir.Node | None:
    value = node.outputs[0]
    if not context.single_use(value):
        return None
    consumer = next(iter(value.uses())).node
    return consumer if consumer.graph is node.graph and not consumer.domain else None
