"""Transposes that cancel, or become fewer, on the other side of what lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.regions import Carried, region_above, region_of
from optimizer.passes.block.transposed import ELEMENTWISE, Perm, data_inputs, is_movable, moved
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

_DEEPEST = 4
"""How many nodes up from an operator the Transposes of what it joins may be."""

_MOST = 12
"""Nodes that move before a Transpose of their result."""

_JOINS = ("Add", "Concat", "Div", "Max", "Min", "Mul", "Pow", "Sub", "Where")


@register
class MoveTransposes(Pass):
    """Move Transposes to where they cancel.

    What it does:
        A Transpose is carried up through operators that work as well on the untransposed data:
        elementwise ones with all their operands, Concat, Pad, Slice, Softmax, reductions that
        keep their axes. It is done where fewer Transposes are left: it meets its inverse, or
        another one that it becomes one with. Transposes of all that such an operator, or a few of
        them, are computed from become one of the result, and one before a Split and those after
        its parts cancel.
    Before:
        Add(Transpose(x), Transpose(y)) → Relu → Transpose
    After:
        Add(x, y) → Relu
    When it is safe:
        Nothing else reads the values in between; axes, pads and bounds are constant; all operands
        have the same rank, or are constants, which are transposed here. The number of Transposes
        becomes smaller.
    Numerics:
        Bit-identical, but for sums and Softmax along an axis that lies elsewhere then, which a
        runtime may add up in another order.
    Source:
        OpenVINO, TransposeSinking; ONNX Runtime, TransposeOptimizer.
    """

    id = "move-transposes"
    exactness = "reassociates"
    order = 21

    @rule("Transpose", name="TransposeRegion", reach=12)
    def region(self, node: ir.Node, context: Context) -> Outcome:
        """Up from one Transpose, through all that lies between."""
        perm = transposition(node, context)
        if perm is None or context.opset() < 7:
            return None
        nodes = region_above(node, lambda one: _may_be_passed(one, perm, context))
        if not nodes:
            return None
        work = _Move(perm=perm, context=context, region={*nodes})
        result = work.above(node.inputs[0])
        if result is None or work.gained < 1:
            return None
        matched = [*dict.fromkeys([*work.transposes, *reversed(nodes)]), node]
        names = ", ".join(sorted({one.op_type for one in nodes}))
        count = f"{1 + work.removed} Transposes become {work.added}"
        reason = f"{names} can work on data before it is transposed: {count}."
        return Replacement(matched, {node.outputs[0]: result}, reason, nodes=work.made)

    @rule(*_JOINS, name="TransposedOperands", reach=_DEEPEST + 1)
    def join(self, node: ir.Node, context: Context) -> Outcome:
        """The same Transpose of every operand, or of what it is computed from."""
        if not is_movable(node, context):
            return None
        above = [_transpose_above(value, context) for value in node.inputs]
        known = list(dict.fromkeys(one for one in above if one is not None))
        perms = [transposition(one, context) for one in known]
        perm = perms[0] if perms else None
        if len(known) < 2 or perm is None or any(other != perm for other in perms):
            return None
        back = [perm.index(axis) for axis in range(len(perm))]
        nodes = region_of(node, lambda one: _is_elementwise(one, context), largest=_MOST)
        work = _Move(perm=back, context=context, region={*nodes})
        result = work.above(node.outputs[0])
        if result is None or work.added or len(work.transposes) < 2:
            return None
        if work.removed < len(work.transposes):
            return Declined("Something else reads a Transpose", (*known,))
        end = NewNode("Transpose", [result], {"perm": perm})
        names = ", ".join(sorted({one.op_type for one in nodes}))
        reason = f"All operands are transposed alike: {names} can be before the Transpose."
        values = {node.outputs[0]: end.output()}
        matched = [*dict.fromkeys(work.transposes), *reversed(nodes)]
        return Replacement(matched, values, reason, nodes=[*work.made, end])

    @rule("Split", name="TransposedParts", reach=2)
    def parts(self, node: ir.Node, context: Context) -> Outcome:
        """A Transpose before a Split, and one after each part."""
        above = producer_of(node.inputs[0], "Transpose")
        first = None if above is None else transposition(above, context)
        below = [_transpose_of(value) for value in node.outputs]
        ends = [one for one in below if one is not None]
        if above is None or first is None or len(ends) != len(below):
            return None
        if not context.single_use(above.outputs[0]):
            return Declined("Something else reads the Transpose", (above,))
        perms = [transposition(one, context) for one in ends]
        perm, axis = perms[0], context.attribute(node, "axis")
        if perm is None or any(other != perm for other in perms) or not isinstance(axis, int):
            return None
        both = [first[place] for place in perm]
        made: list[NewNode] = []
        source: Operand | None = above.inputs[0]
        if both != sorted(both):
            made.append(NewNode("Transpose", [source], {"perm": both}))
            source = made[-1].output()
        attributes = {**node.attributes, "axis": perm.index(axis % len(perm))}
        inputs = [source, *node.inputs[1:]]
        made.append(NewNode("Split", inputs, attributes, outputs=len(ends), name=node.name))
        values = {one.outputs[0]: made[-1].output(place) for place, one in enumerate(ends)}
        reason = f"Split can be before the Transpose: {1 + len(ends)} become {len(made) - 1}."
        return Replacement([above, *ends, node], values, reason, nodes=made)


@dataclass(slots=True, kw_only=True)
class _Move(Carried):
    """A Transpose on its way up.

    Attributes:
        perm: what it does.
        transposes: those that it meets.
        removed: how many of them nobody else reads.
        added: how many there are afterwards.
    """

    perm: Perm
    transposes: list[ir.Node] = field(default_factory=list[ir.Node])
    removed: int = 0
    added: int = 0

    @property
    def gained(self) -> int:
        """How many Transposes less there are, with the one that is moved."""
        return 1 + self.removed - self.added

    def data_inputs(self, node: ir.Node) -> int:
        """Those that are transposed with the output."""
        return data_inputs(node)

    def anew(self, node: ir.Node, data: list[Operand | None]) -> NewNode:
        """The operator on transposed data."""
        return moved(node, data, self.perm, self.context)

    def entering(self, value: ir.Value) -> Operand | None:
        """A value, transposed."""
        shape = self.context.symbolic.shape(value)
        if shape is None or len(shape) > len(self.perm):
            return None
        if all(size == 1 for size in shape):
            return value
        if self.context.is_constant(value):
            return self._constant(value)
        return None if len(shape) < len(self.perm) else self._leaf(value)

    def _constant(self, value: ir.Value) -> Operand | None:
        data = self.context.array(value)
        if data is None:
            return None
        full = data.reshape(*(1,) * (len(self.perm) - data.ndim), *data.shape)
        turned = np.ascontiguousarray(np.transpose(full, self.perm))
        return NewInitializer.of(turned, value.name or "constant")

    def _leaf(self, value: ir.Value) -> Operand | None:
        above = producer_of(value, "Transpose")
        first = None if above is None else transposition(above, self.context)
        source: ir.Value | None = value
        both: Sequence[int] = self.perm
        if above is not None and first is not None:
            both, source = [first[axis] for axis in self.perm], above.inputs[0]
            self.transposes.append(above)
            inside = all(use.node in self.region for use in value.uses())
            self.removed += inside and not value.is_graph_output()
        if [*both] == sorted(both):
            return source
        self.added += 1
        self.made.append(NewNode("Transpose", [source], {"perm": [*both]}))
        return self.made[-1].output()


def _is_elementwise(node: ir.Node, context: Context) -> bool:
    return node.op_type in ELEMENTWISE and is_movable(node, context)


def _may_be_passed(node: ir.Node, perm: Perm, context: Context) -> bool:
    """Whether a node works on the transposed data, and no Softmax along an axis between others."""
    if not is_movable(node, context):
        return False
    if node.op_type in ("LogSoftmax", "Softmax"):
        axis = context.attribute(node, "axis")
        return isinstance(axis, int) and perm.index(axis % len(perm)) == len(perm) - 1
    return True


def _transpose_above(value: ir.Value | None, context: Context) -> ir.Node | None:
    """The Transpose that a value is, or that it is computed from in a few steps."""
    for _ in range(_DEEPEST):
        node = None if value is None else value.producer()
        if node is None or producer_of(value, "Transpose"):
            return node
        if not _is_elementwise(node, context):
            return None
        value = next((one for one in node.inputs if not context.is_constant(one)), None)
    return None


def _transpose_of(value: ir.Value) -> ir.Node | None:
    """The Transpose that alone reads a value."""
    uses = [*value.uses()]
    if len(uses) != 1 or value.is_graph_output():
        return None
    node = uses[0].node
    return node if node.op_type == "Transpose" and not node.domain else None
