"""Reductions that keep their axes, where views put them back further down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.model.graph import readers
from optimizer.numbers import counted
from optimizer.operators.catalogue import BROADCASTING, RESHAPING, UNARY
from optimizer.operators.reduction import reduced
from optimizer.passes.block.reductions import Reduction, reduction_of
from optimizer.registry import Pass, register, rule
from optimizer.rules import Context, NewNode, Operand, Outcome, Replacement

Shape = tuple[Dimension, ...]

MOST_NODES = 64
"""Nodes between reductions and views; what is larger stays as it is."""

_ELEMENTWISE = UNARY | BROADCASTING


@register
class KeepReducedAxes(Pass):
    """Keep reduced axes that are put back later.

    What it does:
        Where reductions take axes out, the results are computed with element by element, and
        views put the axes back for a broadcast, the reductions keep the axes and the views go.
        JAX writes the mean and variance of a normalization so, and the sum of a Softmax.
    Before:
        x → ReduceSum(axis 1) → Mul(1/n) → Unsqueeze(axis 1) → Sub
    After:
        x → ReduceSum(axis 1, keepdims = 1) → Mul(1/n) → Sub
    When it is safe:
        All reductions in between take out the same axes of tensors of one shape, all views put
        them back, and nothing reads a result without them. Other operands are single numbers.
    Numerics:
        Bit-identical: the same elements, with other shapes.
    Source:
        ONNX operator specification, multidirectional broadcasting.
    """

    id = "keep-reduced-axes"
    exactness = "exact"
    order = 65

    @rule(*sorted(RESHAPING), name="ReducedAxes", reach=8)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The last of the views that put the axes of some reductions back."""
        if context.opset() < 7:
            return None  # operands are broadcast by attributes
        region = _region_above(node, context)
        if region is None or len(region.members) == len(region.views) == 1:
            return None  # merge-reductions
        others = [view for view in region.views if view is not node]
        if not all(context.precedes(view, node) for view in others):
            return None
        made = dict(_with_axes(region, context))
        values = {
            view.outputs[0]: made[producer].output() for view, producer in region.views.items()
        }
        reductions = sum(found is not None for found in region.members.values())
        reason = (
            f"{counted(reductions, 'reduction')} can keep the axes that "
            f"{counted(len(region.views), 'view')} would put back."
        )
        matched = [*region.members, *others, node]
        return Replacement(matched, values, reason, [*made.values()], delays=True)


@dataclass(slots=True)
class _Region:
    """What lies between reductions and the views that put their axes back.

    Attributes:
        members: the reductions, and the nodes that work element by element.
        views: each with the member that it views.
    """

    members: dict[ir.Node, Reduction | None] = field(
        default_factory=dict[ir.Node, "Reduction | None"]
    )
    views: dict[ir.Node, ir.Node] = field(default_factory=dict[ir.Node, ir.Node])


def _region_above(view: ir.Node, context: Context) -> _Region | None:
    """All that is connected with a view by values without the axes; None if that is not closed."""
    shape, source = context.symbolic.shape, view.inputs[0]
    small, large = shape(source), shape(view.outputs[0])
    if source is None or small is None or large is None or len(large) <= len(small):
        return None
    region = _Region()
    pending = [source.producer()]
    while pending:
        node = pending.pop()
        if node in region.members:
            continue
        if node is None or node.graph is not view.graph or len(region.members) == MOST_NODES:
            return None
        found = reduction_of(node, context)
        operands = _operands(node, small, context) if found is None else []
        reached = None if found is None or found.keep else shape(node.inputs[0])
        takes_out = found is None or (
            reached is not None and reduced(reached, found.axes, keep=True) == large
        )
        if operands is None or not takes_out or node.outputs[0].is_graph_output():
            return None
        region.members[node] = found
        pending += [value.producer() for value in operands]
        for reader in readers(node.outputs[0]):
            if _puts_back(reader) and shape(reader.outputs[0]) == large:
                region.views[reader] = node
            else:
                pending.append(reader)
    return region


def _operands(node: ir.Node, small: Shape, context: Context) -> list[ir.Value] | None:
    """What a node computes with element by element; None if that is not what it does."""
    if node.op_type not in _ELEMENTWISE or node.domain or len(node.outputs) > 1:
        return None
    operands = [value for value in node.inputs if not _is_number(value, context)]
    given = [value for value in operands if value is not None]
    fits = len(given) == len(operands)
    return given if fits and all(context.symbolic.shape(v) == small for v in given) else None


def _puts_back(node: ir.Node) -> bool:
    return node.op_type in RESHAPING and not node.domain


def _is_number(value: ir.Value | None, context: Context) -> bool:
    """Whether an operand is one constant number, which any shape takes."""
    sizes = context.dims(value) if context.is_constant(value) else None
    return sizes is not None and sizes in ((), (1,))


def _with_axes(region: _Region, context: Context) -> Iterator[tuple[ir.Node, NewNode]]:
    """Every member anew, producers first."""
    made: dict[ir.Node, NewNode] = {}
    pending = [*region.members]
    while pending:
        node = pending[-1]
        above = {value.producer() for value in node.inputs if value is not None}
        missing = [each for each in region.members if each in above and each not in made]
        found = region.members[node]
        if found is None and missing:
            pending += missing
            continue
        pending.pop()
        if node in made:
            continue
        if found is not None:
            new = found.along(found.axes, node.inputs[0], context.opset(), keep=True)
        else:
            inputs = [_anew(value, made) for value in node.inputs]
            new = NewNode(node.op_type, inputs, dict(node.attributes), name=node.name)
        made[node] = new
        yield node, new


def _anew(value: ir.Value | None, made: dict[ir.Node, NewNode]) -> Operand | None:
    producer = None if value is None else value.producer()
    return made[producer].output() if producer in made else value
