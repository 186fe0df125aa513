"""Shape arithmetic."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension, at_least
from optimizer.folding.exclusive_producers import BOOKKEEPING, exclusive_producers
from optimizer.folding.reshape_target import reshape_target
from optimizer.operators.catalogue import BROADCASTING
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, NewInitializer, Outcome, Replacement, given

_FAR = 2**31 - 1
"""Bounds of a Slice from here on mean "to the end"."""


@register
class FoldShapes(Pass):
    """Work out sizes ahead of time.

    What it does:
        Follows sizes through the graph as expressions over the inputs' dimensions. Integers that
        come out as numbers become initializers; the target of a Reshape or Expand becomes a
        constant where -1, 0 or 1 can stand for what varies; an Expand or Slice that changes
        nothing goes away. Dimensions that vary stay variable.
    Before:
        x[batch, seq, 768] → Shape → Gather → Unsqueeze → Concat(·, seq, 12, 64) → Reshape(x, ·)
    After:
        x[batch, seq, 768] → Reshape(x, [0, 0, 12, 64])
    When it is safe:
        The result is the same for every size, empty tensors included: -1 is used only where the
        other sizes are certainly not 0, or where it was there before; 0 only where input and
        output have the same size in the same place. The model's declared input shapes are taken as
        its contract.
    Numerics:
        Bit-identical: only integers are computed here.
    Source:
        ONNX operator specification; the same idea as symbolic shape inference in ONNX Runtime.
    """

    id = "fold-shapes"
    exactness = "exact"
    order = 12

    @rule(*sorted(BOOKKEEPING), name="KnownIntegers", reach=1)
    def known_integers(self, node: ir.Node, context: Context) -> Outcome:
        """Integers that are numbers, whatever the inputs."""
        output = node.outputs[0]
        numbers = _numbers(output, context)
        if numbers is None or not _is_frontier(output, context):
            return None
        if all(v is None or context.is_constant(v) for v in node.inputs):
            return None  # an ordinary constant expression
        shape, dtype = output.shape, output.dtype
        if shape is None or dtype is None or len(node.outputs) > 1:
            return None
        dims = context.symbolic.shape(output)
        assert dims is not None
        array = np.array(numbers, dtype.numpy()).reshape([d for d in dims if isinstance(d, int)])
        before = (v.producer() for v in node.inputs if v is not None)
        return Replacement(
            [node, *exclusive_producers(before, around=[node])],
            {output: NewInitializer(ir.Tensor(array), output.name or "size")},
            f"These sizes are the same for every input: {_text(numbers)}.",
        )

    @rule("Reshape", name="ReshapeTarget", reach=2)
    def reshape(self, node: ir.Node, context: Context) -> Outcome:
        """A Reshape whose target varies, but can be written as a constant."""
        data, target, output = _two_inputs(node)
        if data is None or target is None or context.is_constant(target):
            return None
        source, result = context.symbolic.shape(data), context.symbolic.shape(output)
        if source is None or result is None:
            return None
        if source == result:
            return _bypass(node, target, data, "The Reshape keeps the shape as it is.")
        given = context.symbolic.of(target)
        inferred = [i for i, d in enumerate(given) if d == -1] if isinstance(given, tuple) else []
        found = reshape_target(source, result, inferred=inferred)
        if found is None:
            return None
        copies = {"allowzero": None} if 0 in found and context.attribute(node, "allowzero") else {}
        return _retarget(node, (1, target), found, attributes=copies)

    @rule("Expand", name="ExpandBeforeBroadcast", reach=1)
    def expand_before_broadcast(self, node: ir.Node, context: Context) -> Outcome:
        """An Expand whose consumers would broadcast by themselves."""
        data, target, output = _two_inputs(node)
        if data is None or target is None or output.is_graph_output():
            return None
        source = context.symbolic.shape(data)
        uses = output.uses()
        if source is None or not uses or len(uses) > 8:
            return None
        for use in uses:
            if not _broadcasts_anyway(use.node, output, source, context):
                return None
        return Replacement(
            [node, *exclusive_producers([target.producer()], around=[node])],
            {},
            "The consumers of the Expand broadcast to the same shape anyway.",
            inputs={(use.node, use.idx): data for use in uses},
        )

    @rule("Expand", name="ExpandTarget", reach=2)
    def expand(self, node: ir.Node, context: Context) -> Outcome:
        """An Expand that does nothing, or whose target can be written as a constant."""
        data, target, output = _two_inputs(node)
        if data is None or target is None:
            return None
        source, result = context.symbolic.shape(data), context.symbolic.shape(output)
        if source is None or result is None:
            return None
        if source == result:
            return _bypass(node, target, data, "The Expand keeps the shape as it is.")
        if context.is_constant(target):
            return None
        lead = len(result) - len(source)
        # an axis the input already has in full need not be named: 1 keeps it
        found = [
            1 if place >= lead and source[place - lead] == dim else dim
            for place, dim in enumerate(result)
        ]
        numbers = [size for size in found if isinstance(size, int)]
        return _retarget(node, (1, target), numbers) if len(numbers) == len(found) else None

    @rule("Slice", name="SliceOfEverything", reach=2)
    def slice_(self, node: ir.Node, context: Context) -> Outcome:
        """A Slice from 0 to a computed end that is the whole axis."""
        if context.opset() < 10 or len(node.inputs) < 3:
            return None
        data, ends = node.inputs[0], node.inputs[2]
        if data is None or ends is None or context.is_constant(ends):
            return None
        dims = context.symbolic.shape(data)
        bounds = [_elements(node, index, context) for index in range(1, 5)]
        starts, stops, axes, steps = bounds
        if dims is None or not starts or not stops or any(starts) or (steps and set(steps) != {1}):
            return None
        if (given(node, 3) and axes is None) or (given(node, 4) and steps is None):
            return None
        for axis, stop in zip(axes or range(len(stops)), stops, strict=False):
            if not isinstance(axis, int) or stop is None or not at_least(stop, dims[axis]):
                return None
        return _bypass(node, ends, data, "The Slice takes every axis whole.")


def _broadcasts_anyway(
    consumer: ir.Node, expanded: ir.Value, source: tuple[Dimension, ...], context: Context
) -> bool:
    """Whether a consumer's output keeps its shape when it reads the unexpanded value."""
    if consumer.op_type not in BROADCASTING or consumer.domain:
        return False
    result = context.symbolic.shape(consumer.outputs[0])
    if result is None:
        return False
    shapes = [source]
    for value in consumer.inputs:
        if value is expanded or value is None:
            continue
        shape = context.symbolic.shape(value)
        if shape is None:
            return False
        shapes.append(shape)
    # every axis of the result must be there in full, and none may need what Expand gave it
    rank = len(result)
    if max(len(shape) for shape in shapes) != rank:
        return False
    for place in range(1, rank + 1):
        sizes = [shape[-place] for shape in shapes if len(shape) >= place]
        if result[-place] not in sizes:
            return False
    return True


def _two_inputs(node: ir.Node) -> tuple[ir.Value | None, ir.Value | None, ir.Value]:
    return node.inputs[0], given(node, 1), node.outputs[0]


def _bypass(node: ir.Node, target: ir.Value, data: ir.Value, reason: str) -> Replacement:
    matched = [node, *exclusive_producers([target.producer()], around=[node])]
    return Replacement(matched, {node.outputs[0]: data}, reason)


def _retarget(
    node: ir.Node,
    place: tuple[int, ir.Value],
    target: list[int],
    *,
    attributes: dict[str, None] | None = None,
) -> Replacement:
    """Replace one input of a node that stays by constant sizes."""
    index, old = place
    return Replacement(
        [node, *exclusive_producers([old.producer()], around=[node])],
        {},
        f"The target can be written as {_text(target)} for every size of the inputs.",
        inputs={(node, index): NewInitializer.ints(target, old.name or "shape")},
        attributes={node: attributes} if attributes else {},
    )


def _numbers(value: ir.Value, context: Context) -> int | list[int] | None:
    """The elements of an integer tensor when all are numbers."""
    content = context.symbolic.of(value)
    if content is None or isinstance(content, int):
        return content
    if not isinstance(content, tuple):
        return None
    numbers = [element for element in content if isinstance(element, int)]
    return numbers if len(numbers) == len(content) else None


def _elements(node: ir.Node, index: int, context: Context) -> tuple[Dimension | None, ...] | None:
    value = given(node, index)
    content = None if value is None else context.symbolic.of(value)
    return content if isinstance(content, tuple) else None


def _is_frontier(value: ir.Value, context: Context) -> bool:
    """Whether something needs these numbers that is not a number itself."""
    if value.is_graph_output():
        return True
    return any(
        use.node.op_type not in BOOKKEEPING or _numbers(use.node.outputs[0], context) is None
        for use in value.uses()
    )


def _text(numbers: int | list[int]) -> str:
    if isinstance(numbers, int):
        return str(numbers)
    shown = ", ".join(str(number) for number in numbers[:8])
    return f"[{shown}{', …' if len(numbers) > 8 else ''}]"
