"""Layer normalization spelled out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from optimizer.model.graph import walk_nodes
from optimizer.passes.wording import described, escaping
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
)

REACH = 9
OPSET = 17
"""The first operator set with LayerNormalization."""

OLDEST = 13
"""From this one to that, operators only gained types and optional inputs and attributes."""

_CHANGED = frozenset({"RoiAlign"})
"""Operators with other defaults in between."""

_TYPES = frozenset({ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16})


@dataclass(frozen=True, slots=True)
class _Core:
    """`(x − mean) / √(variance + ε)`.

    Attributes:
        source: x.
        axis: the first normalized axis.
        sizes: of the normalized axes.
        epsilon: ε.
        nodes: all its nodes, the last one first.
    """

    source: ir.Value
    axis: int
    sizes: tuple[int, ...]
    epsilon: float
    nodes: tuple[ir.Node, ...]


def find_layer_norm(node: ir.Node, context: Context) -> Replacement | Declined | None:
    """The longest form that ends at `node` and does not go on further down, as one operator."""
    if node.outputs[0].dtype not in _TYPES:
        return None
    found = _whole(node, context)
    if found is None or _goes_on(node, found, context):
        return None
    core, scale, bias, outer = found
    nodes = (*outer, *core.nodes)
    blocked = escaping(nodes, node)
    if blocked is not None:
        return blocked
    inputs = [core.source, scale or _ones(core)]
    made = NewNode(
        "LayerNormalization",
        inputs if bias is None else [*inputs, bias],
        {"axis": core.axis, "epsilon": core.epsilon},
    )
    reason = f"These {len(nodes)} nodes normalize over the last axes."
    return Replacement.by(made, reason, *nodes[::-1])


_Found = tuple[_Core, Operand | None, Operand | None, tuple[ir.Node, ...]]


def _whole(node: ir.Node, context: Context) -> _Found | None:
    """Core, scale, bias and the nodes that apply them, as far as they end at `node`."""
    core = _core(node, context)
    if core is not None:
        return core, None, None, ()
    if node.op_type == "Mul":
        return _with_scale(node, context)
    if node.op_type != "Add":
        return None
    for position, value in enumerate(node.inputs):
        above = None if value is None else value.producer()
        scaled = None if above is None else _with_scale(above, context)
        if scaled is not None:
            bias = _parameter(node.inputs[1 - position], scaled[0], context)
            if bias is not None:
                return scaled[0], scaled[1], bias, (node, *scaled[3])
    return None


def _with_scale(node: ir.Node, context: Context) -> _Found | None:
    if node.op_type != "Mul" or node.domain:
        return None
    for position, value in enumerate(node.inputs):
        above = None if value is None else value.producer()
        core = None if above is None else _core(above, context)
        if core is not None:
            scale = _parameter(node.inputs[1 - position], core, context)
            if scale is not None:
                return core, scale, None, (node,)
    return None


def _goes_on(node: ir.Node, found: _Found, context: Context) -> bool:
    """Whether the only consumer applies the scale or bias that is still missing."""
    core, scale, bias, _ = found
    uses = node.outputs[0].uses()
    if bias is not None or len(uses) != 1 or node.outputs[0].is_graph_output():
        return False
    ((consumer, index),) = uses
    wanted = "Mul" if scale is None else "Add"
    if consumer.op_type != wanted or consumer.domain or consumer.graph is not node.graph:
        return False
    return _parameter(consumer.inputs[1 - index], core, context) is not None


def _core(node: ir.Node, context: Context) -> _Core | None:
    """The normalization whose last node is `node`: a quotient, or a product with 1 / root."""
    if node.domain:
        return None
    if node.op_type == "Div":
        return _quotient(node, node.inputs[0], node.inputs[1], context=context)
    if node.op_type != "Mul":
        return None
    for position in (0, 1):
        inverse = producer_of(node.inputs[position], "Reciprocal")
        if inverse is not None:
            difference = node.inputs[1 - position]
            return _quotient(node, difference, inverse.inputs[0], extra=(inverse,), context=context)
    return None


def _quotient(
    node: ir.Node,
    difference: ir.Value | None,
    deviation: ir.Value | None,
    *,
    extra: tuple[ir.Node, ...] = (),
    context: Context,
) -> _Core | None:
    root = producer_of(deviation, "Sqrt")
    total = None if root is None else producer_of(root.inputs[0], "Add")
    minus = producer_of(difference, "Sub")
    if root is None or total is None or minus is None:
        return None
    position = 1 if context.is_constant(total.inputs[0]) else 0
    epsilon = context.scalar(total.inputs[1 - position])
    variance = producer_of(total.inputs[position], "ReduceMean")
    mean = producer_of(minus.inputs[1], "ReduceMean")
    source = minus.inputs[0]
    if epsilon is None or variance is None or mean is None or source is None:
        return None
    square = _square(variance.inputs[0], minus, context)
    axis = _first_axis(mean, context)
    if square is None or mean.inputs[0] is not source or axis is None:
        return None
    sizes = tuple(d for d in (context.symbolic.shape(source) or ())[axis:] if isinstance(d, int))
    if axis != _first_axis(variance, context) or len(sizes) != (context.rank(source) or 0) - axis:
        return None
    nodes = (node, *extra, root, total, variance, *square, minus, mean)
    return _Core(source, axis, sizes, float(epsilon), tuple(dict.fromkeys(nodes)))


def _square(value: ir.Value | None, minus: ir.Node, context: Context) -> list[ir.Node] | None:
    """The nodes that square the difference, which may be computed twice over."""
    square = producer_of(value, "Pow", "Mul")
    if square is None:
        return None
    base, other = square.inputs
    twice = base is other if square.op_type == "Mul" else context.scalar(other) == 2
    again = producer_of(base, "Sub")
    return [square, again] if again and twice and again.inputs == minus.inputs else None


def _first_axis(mean: ir.Node, context: Context) -> int | None:
    """The first of the axes a ReduceMean runs over, if they are the last ones and are kept."""
    rank = context.rank(mean.inputs[0])
    if rank is None or context.attribute(mean, "keepdims") != 1:
        return None
    axes = context.parameter(mean, "axes", 1)
    if not axes:
        return None
    chosen = sorted(axis % rank for axis in axes)
    return chosen[0] if chosen == list(range(chosen[0], rank)) else None


def _parameter(value: ir.Value | None, core: _Core, context: Context) -> Operand | None:
    """Scale or bias in the shape of the normalized axes; None when it does not fit them."""
    shape = None if value is None else context.symbolic.shape(value)
    if shape is None or value is None or value.dtype != core.source.dtype:
        return None
    if shape == core.sizes:
        return value
    data = context.array(value)
    if data is None or data.ndim > core.axis + len(core.sizes):
        return None
    if data.shape[-len(core.sizes) :] != core.sizes or data.size != math.prod(core.sizes):
        return None
    return NewInitializer.of(data.reshape(core.sizes), value.name or "scale")


def _ones(core: _Core) -> NewInitializer:
    assert core.source.dtype is not None
    return NewInitializer.of(np.ones(core.sizes, core.source.dtype.numpy()), "ones")


@register
class RecognizeLayerNorm(Pass):
    """Recognize LayerNormalization.

    What it does:
        Exporters spell layer normalization out in seven to nine nodes: mean, difference, square,
        mean, ε, root, quotient, scale, bias. They become one LayerNormalization.
    Before:
        (x − mean(x)) / √(mean((x − mean(x))²) + ε) · scale + bias
    After:
        LayerNormalization(x, scale, bias)
    When it is safe:
        LayerNormalization came with opset 17. A model of opset 13 to 16 moves there with the
        first one, since every operator in it means the same in both; an older one stays as it is.
        The means run over the last axes, whose sizes are known, and scale and bias have just
        those sizes. Nothing else reads the values in between.
    Numerics:
        The same mathematics; the runtime may compute the variance as mean(x²) − mean(x)², which
        rounds worse where the mean is much larger than the deviation.
    Source:
        Ba et al. 2016, Layer normalization; ONNX operator specification.
    """

    id = "recognize-layer-norm"
    exactness = "reassociates"
    order = 82

    @rule("Add", "Mul", "Div", name="LayerNorm", reach=REACH)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The longest form that ends here and does not go on further down."""
        found = find_layer_norm(node, context)
        if not isinstance(found, Replacement) or context.opset() >= OPSET:
            return found
        problem = _obstacle(node, context)
        if problem is not None:
            reason = f"LayerNormalization needs opset {OPSET}, and {problem}"
            return Declined(reason, tuple(found.matched))
        moved = f"The model now uses opset {OPSET}, in which its operators mean the same."
        reason = f"{found.reason} {moved}"
        return replace(found, reason=reason, opsets={"": OPSET})


def _obstacle(node: ir.Node, context: Context) -> str | None:
    """Why the model of `node` cannot use opset 17 instead of its own; None when it can.

    The answer is looked up once a round.
    """
    if "obstacle" not in context.memory:
        context.memory["obstacle"] = _find(node, context)
    found = context.memory["obstacle"]
    return None if found is None else str(found)


def _find(node: ir.Node, context: Context) -> str | None:
    if context.opset() < OLDEST:
        return f"between opset {context.opset()} and {OLDEST} operators changed their form"
    assert isinstance(node.graph, ir.Graph)
    *_, outermost = context.scopes(node.graph)
    for other in walk_nodes(outermost):
        if other.domain:
            continue
        training = other.op_type == "BatchNormalization" and len(other.outputs) > 1
        if other.op_type in _CHANGED or training:
            return f"{described(other)} means something else there"
    return None
