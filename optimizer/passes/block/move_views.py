"""Reshapes that cancel, or become fewer, on the other side of elementwise operators."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.operators.call import in_numbers
from optimizer.operators.catalogue import BROADCASTING, RESHAPING, UNARY
from optimizer.passes.block.regions import Carried, read_by_alone, region_above
from optimizer.passes.block.unit_axes import axes_of, view
from optimizer.passes.wording import shared
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    given,
    producer_of,
    transposition,
)

Shape = tuple[Dimension, ...]

_ELEMENTWISE = (UNARY | BROADCASTING) - {"Identity"}
_PASSED = _ELEMENTWISE | {"Clip"}


@register
class MoveViews(Pass):
    """Move Reshapes to where they cancel.

    What it does:
        A Reshape, Squeeze, Unsqueeze or Flatten after elementwise operators goes away where those
        before them gave another shape to what has the last shape already: the operators work in
        that shape. Views of all operands of an elementwise operator become one of its result. Axes
        of size 1 are left out before a Transpose, and put in after it.
    Before:
        x[2, 3, 4] → Reshape(2, 12) → Relu → Mul(2) → Reshape(2, 3, 4)
    After:
        x[2, 3, 4] → Relu → Mul(2)
    When it is safe:
        The shapes certainly agree, and nothing else reads the values in between. Operands are
        views, or constants: numbers, vectors along a last axis that stays, or as large as the
        result, whose sizes are known then.
    Numerics:
        Bit-identical: no element moves, each is computed as before.
    Source:
        XLA, ReshapeMover; onnxsim, eliminate_reshape_around_elementwise.
    """

    id = "move-views"
    exactness = "exact"
    order = 31

    @rule(*sorted(RESHAPING), name="ViewRegion", reach=12)
    def region(self, node: ir.Node, context: Context) -> Outcome:
        """Up from one view, through elementwise operators."""
        if producer_of(node.inputs[0], *_PASSED) is None:
            return None
        inner, last = (
            context.symbolic.shape(node.inputs[0]),
            context.symbolic.shape(node.outputs[0]),
        )
        if inner is None or last is None or context.opset() < 7:
            return None
        nodes = region_above(node, lambda one: _elementwise(one, inner, context))
        if not nodes or not any(_views_above(one) for one in nodes):
            return None
        work = _Reshaped(inner=inner, shape=last, context=context, region={*nodes})
        result = work.above(node.inputs[0])
        if result is None or not work.views:
            return None
        matched = [*dict.fromkeys([*work.views, *reversed(nodes)]), node]
        names = ", ".join(sorted({one.op_type for one in nodes}))
        reason = f"{names} work element by element, and the first shape comes back."
        return Replacement(matched, {node.outputs[0]: result}, reason, nodes=work.made)

    @rule(*sorted(BROADCASTING), name="ViewedOperands", reach=2)
    def join(self, node: ir.Node, context: Context) -> Outcome:
        """Views of every operand, from one shape to another."""
        views = [producer_of(value, *RESHAPING) for value in node.inputs]
        known = list(dict.fromkeys(one for one in views if one is not None))
        shape = context.symbolic.shape(node.outputs[0])
        if len(known) < 2 or shape is None or context.opset() < 7:
            return None
        firsts = [context.symbolic.shape(one.inputs[0]) for one in known]
        same = all(context.symbolic.shape(one.outputs[0]) == shape for one in known)
        first = firsts[0]
        if not same or first is None or any(other != first for other in firsts):
            return None
        if not all(read_by_alone(one.outputs[0], node) for one in known):
            return Declined("Something else reads a view", (*known,))
        work = _Reshaped(inner=shape, shape=first, context=context, region={node})
        result = work.above(node.outputs[0])
        if result is None:
            return None
        end = NewNode(known[0].op_type, [result, *known[0].inputs[1:]], known[0].attributes)
        values = {node.outputs[0]: end.output()}
        reason = f"All operands are given the same shape: {node.op_type} can be before that."
        return Replacement([*known, node], values, reason, nodes=[*work.made, end])

    @rule("Squeeze", name="SqueezeAfterTranspose", reach=2)
    def squeezed(self, node: ir.Node, context: Context) -> Outcome:
        """Axes of size 1 that a Transpose moves before they are left out."""
        moving = producer_of(node.inputs[0], "Transpose")
        perm = None if moving is None else transposition(moving, context)
        axes = None if perm is None else axes_of(node, len(perm), context)
        if moving is None or perm is None or not axes or moving.inputs[0] is None:
            return None
        if blocked := shared(moving.outputs[0], node):
            return blocked
        kept = [source for axis, source in enumerate(perm) if axis not in axes]
        first = view("Squeeze", moving.inputs[0], sorted(perm[axis] for axis in axes), context)
        order = [sorted(kept).index(source) for source in kept]
        last = NewNode("Transpose", [first.output()], {"perm": order})
        reason = "An axis of size 1 that is left out need not be moved before."
        return Replacement([moving, node], {node.outputs[0]: last.output()}, reason, [first, last])

    @rule("Transpose", name="UnsqueezeBeforeTranspose", reach=2)
    def unsqueezed(self, node: ir.Node, context: Context) -> Outcome:
        """Axes of size 1 that are put in before a Transpose moves them."""
        putting = producer_of(node.inputs[0], "Unsqueeze")
        perm = transposition(node, context)
        axes = None if putting is None or perm is None else axes_of(putting, len(perm), context)
        if putting is None or perm is None or not axes or putting.inputs[0] is None:
            return None
        if blocked := shared(putting.outputs[0], node):
            return blocked
        kept = [source for source in perm if source not in axes]
        order = [sorted(kept).index(source) for source in kept]
        first = NewNode("Transpose", [putting.inputs[0]], {"perm": order})
        places = [axis for axis, source in enumerate(perm) if source in axes]
        last = view("Unsqueeze", first.output(), places, context)
        reason = "An axis of size 1 that is put in need not be moved afterwards."
        return Replacement([putting, node], {node.outputs[0]: last.output()}, reason, [first, last])


@dataclass(slots=True, kw_only=True)
class _Reshaped(Carried):
    """Elementwise operators in another shape.

    Attributes:
        inner: the shape that they have.
        shape: the one that they get.
        views: what gave the inner shape to what they read.
    """

    inner: Shape
    shape: Shape
    views: list[ir.Node] = field(default_factory=list[ir.Node])

    def data_inputs(self, node: ir.Node) -> int:
        """All inputs, but for bounds."""
        return 1 if node.op_type == "Clip" else len(node.inputs)

    def anew(self, node: ir.Node, data: list[Operand | None]) -> NewNode:
        """The same operator."""
        inputs = [*data, *node.inputs[len(data) :]]
        return NewNode(node.op_type, inputs, node.attributes, name=node.name)

    def entering(self, value: ir.Value) -> Operand | None:
        """What a view is of, or a constant in another shape."""
        view = producer_of(value, *RESHAPING)
        source = None if view is None else view.inputs[0]
        if (
            view is not None
            and source is not None
            and self.context.symbolic.shape(source) == self.shape
            and self.context.symbolic.shape(value) == self.inner
        ):
            self.views.append(view)
            return source
        return self._constant(value)

    def _constant(self, value: ir.Value) -> Operand | None:
        """A constant that broadcasts in the new shape as it did in the old one."""
        data = self.context.array(value)
        if data is None:
            return None
        if data.size == 1:
            return value if data.ndim == 0 else NewInitializer.of(data.reshape(()), _name(value))
        tail = self.inner[-1:] == self.shape[-1:] == data.shape[-1:]
        if tail and data.size == data.shape[-1]:
            return value if data.ndim == 1 else NewInitializer.of(data.reshape(-1), _name(value))
        sizes = in_numbers(self.shape)
        if sizes is None or self.inner != data.shape:
            return None
        return NewInitializer.of(np.reshape(data, sizes), _name(value))


def _name(value: ir.Value) -> str:
    return value.name or "constant"


def _elementwise(node: ir.Node, shape: Shape, context: Context) -> bool:
    """Whether a node computes each element of a shape of its own."""
    if node.domain or node.op_type not in _PASSED or len(node.outputs) != 1:
        return False
    if node.op_type == "Clip" and any(
        context.rank(given(node, i)) not in (None, 0) for i in (1, 2)
    ):
        return False
    return context.symbolic.shape(node.outputs[0]) == shape


def _views_above(node: ir.Node) -> bool:
    return any(producer_of(value, *RESHAPING) is not None for value in node.inputs)
