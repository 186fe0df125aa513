"""Transposes."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.folding.reshape_target import Dims, reshape_target
from optimizer.layout.transposition import Transposition
from optimizer.operators.catalogue import RESHAPING, UNARY
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    producer_of,
    transposition,
)


@register
class MergeTransposes(Pass):
    """Merge Transpose chains.

    What it does:
        Transposes in a row become one, or none when they undo each other, also around an
        elementwise operator. Two with a Reshape between them become one and a Reshape. A Transpose
        that only moves axes of size 1 becomes a Reshape, which copies nothing.
    Before:
        x → Transpose(0, 2, 1, 3) → Transpose(0, 2, 1, 3) → Softmax
    After:
        x → Softmax
    When it is safe:
        Always; a chain is merged only while nothing else reads its intermediate results. For a
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

    @rule("Transpose", name="TransposeAcrossReshape", reach=3)
    def across(self, node: ir.Node, context: Context) -> Outcome:
        """Two Transposes and the Reshape between them."""
        view = producer_of(node.inputs[0], *RESHAPING)
        first = None if view is None else producer_of(view.inputs[0], "Transpose")
        if view is None or first is None or context.opset() < 5:
            return None
        if not all(context.single_use(one.outputs[0]) for one in (first, view)):
            return None
        above, below = _movement(first, context), _movement(node, context)
        both = None if above is None or below is None else above.then(below)
        if above is None or below is None or both is None:
            return None
        nodes = _moved(first.inputs[0], above.shape, both, below.result)
        if nodes is None:
            return Declined(
                "The sizes are not known well enough to write the shapes", (first, view)
            )
        result = {node.outputs[0]: nodes[-1].output()}
        what = "one" if both.moves else "none"
        reason = (
            f"{view.op_type} moves nothing: of the Transposes before and after it {what} is left."
        )
        return Replacement([first, view, node], result, reason, nodes=nodes)

    @rule("Transpose", name="TransposeOfUnitAxes", reach=1)
    def unit_axes(self, node: ir.Node, context: Context) -> Outcome:
        """A Transpose that leaves the elements in their order."""
        data, perm = node.inputs[0], transposition(node, context)
        if not self.reshape_unit_axes or data is None or perm is None or context.opset() < 5:
            return None
        source = context.symbolic.shape(data)
        if source is None or 1 not in source or context.is_constant(data):
            return None
        moved = [axis for axis in perm if source[axis] != 1]
        if moved != sorted(moved) or perm == sorted(perm):
            return None
        target = reshape_target(source, tuple(source[axis] for axis in perm))
        if target is None:
            return None
        sizes = NewInitializer.ints(target, f"{data.name}_shape")
        reason = "Only axes of size 1 move, so the elements keep their order."
        return Replacement.by(NewNode("Reshape", [data, sizes]), reason, node)


def _movement(node: ir.Node, context: Context) -> Transposition | None:
    shape, perm = context.symbolic.shape(node.inputs[0]), transposition(node, context)
    return (
        None if shape is None or perm is None or 0 in shape else Transposition(shape, tuple(perm))
    )


def _moved(
    data: ir.Value | None, source: Dims, moves: Transposition, result: Dims
) -> list[NewNode] | None:
    """The movement between the two shapes, with the Reshapes that it takes."""
    operand: Operand | None = data
    nodes: list[NewNode] = []
    shape = source
    wanted = (moves.shape, result) if moves.moves else (result,)
    for place, target in enumerate(wanted):
        if place:
            nodes.append(NewNode("Transpose", [operand], {"perm": list(moves.perm)}))
            shape, operand = moves.result, nodes[-1].output()
        if shape != target:
            sizes = reshape_target(shape, target)
            if sizes is None:
                return None
            nodes.append(NewNode("Reshape", [operand, NewInitializer.ints(sizes, "shape")]))
            shape, operand = target, nodes[-1].output()
    return nodes


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
