"""Reshape, Squeeze, Unsqueeze and Flatten in a row."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.folding.exclusive_producers import exclusive_producers
from optimizer.folding.reshape_target import reshape_target
from optimizer.model.graph import use_count
from optimizer.operators.catalogue import RESHAPING, UNARY
from optimizer.passes.block.unit_axes import axes_of, view
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    given,
    producer_of,
)


@register
class MergeReshapes(Pass):
    """Merge Reshape, Squeeze, Unsqueeze and Flatten chains.

    What it does:
        All four give the same elements another shape, so of a run only the last shape counts: the
        run becomes one Reshape, Squeeze or Unsqueeze, or nothing where the first shape comes back.
    Before:
        x[batch, 8, 64] → Reshape(0, 512) → Unsqueeze(1)
    After:
        x[batch, 8, 64] → Reshape(-1, 1, 512)
    When it is safe:
        The merged target means the same for every size: -1 and 0 are resolved against the shape
        they were written for. A view that something else reads as well stays; it is passed by only
        where all its readers are views too.
    Numerics:
        Bit-identical: no element moves.
    Source:
        ONNX operator specification, Reshape (0, -1 and allowzero), Squeeze, Unsqueeze, Flatten.
    """

    id = "merge-reshapes"
    exactness = "exact"
    order = 22

    @rule(*sorted(RESHAPING), name="ViewChain", reach=2)
    def chain(self, node: ir.Node, context: Context) -> Outcome:
        """A view of a view."""
        above = producer_of(node.inputs[0], *RESHAPING)
        if above is None:
            return None
        source, middle = above.inputs[0], above.outputs[0]
        if source is None or above.graph is not node.graph or context.opset() < 5:
            return None
        if not context.single_use(middle) and not _only_views(middle):
            return None
        first, last = context.symbolic.shape(source), context.symbolic.shape(node.outputs[0])
        matched = [above, node, *_bookkeeping(above), *_bookkeeping(node)]
        if first is not None and first == last:
            return Replacement(matched, {node.outputs[0]: source}, "The first shape comes back.")
        merged = _merged_axes(above, node, source, context) or _merged_target(
            node, source, first, last, context
        )
        if merged is None:
            return None
        names = f"{above.op_type} and {node.op_type}"
        reason = f"{names} only give the elements another shape: one {merged.op_type} does both."
        return Replacement(matched, {node.outputs[0]: merged.output()}, reason, nodes=[merged])

    @rule("Unsqueeze", name="UnsqueezeOfGather", reach=2)
    def gather(self, node: ir.Node, context: Context) -> Outcome:
        """An axis that is dropped by gathering with a scalar and put back."""
        gather = producer_of(node.inputs[0], "Gather")
        if gather is None:
            return None
        (data, places), picked = gather.inputs, gather.outputs[0]
        rank, index = context.rank(data), context.scalar(places)
        if data is None or rank is None or index is None or context.rank(places) != 0:
            return None
        axis = gather.attributes.get_int("axis", 0)
        if axes_of(node, rank, context) != [axis % rank] or not context.single_use(picked):
            return None
        place = NewInitializer.ints([int(index)], f"{picked.name}_index")
        merged = NewNode("Gather", [data, place], {"axis": axis})
        reason = "Gathering with a vector of one index keeps the axis."
        return Replacement.by(merged, reason, gather, node)

    @rule(*sorted(RESHAPING), name="ViewAroundElementwise", reach=3)
    def around(self, node: ir.Node, context: Context) -> Outcome:
        """Two views that together change nothing, around an elementwise operator."""
        middle = producer_of(node.inputs[0], *UNARY)
        above = None if middle is None else producer_of(middle.inputs[0], *RESHAPING)
        if middle is None or above is None:
            return None
        source = above.inputs[0]
        if source is None or above.graph is not node.graph or len(middle.inputs) > 1:
            return None
        first, last = context.symbolic.shape(source), context.symbolic.shape(node.outputs[0])
        single = all(context.single_use(one.outputs[0]) for one in (above, middle))
        if first is None or first != last or not single:
            return None
        again = NewNode(middle.op_type, [source], dict(middle.attributes))
        return Replacement(
            [above, middle, node, *_bookkeeping(above), *_bookkeeping(node)],
            {node.outputs[0]: again.output()},
            f"{middle.op_type} works element by element, and the first shape comes back.",
            nodes=[again],
        )


def _merged_target(
    node: ir.Node,
    source: ir.Value,
    first: tuple[object, ...] | None,
    last: tuple[object, ...] | None,
    context: Context,
) -> NewNode | None:
    """One Reshape straight to the last shape."""
    target = node.inputs[1] if node.op_type == "Reshape" and len(node.inputs) > 1 else None
    numbers = context.ints(target)
    if target is not None and numbers is not None and 0 not in numbers:
        return NewNode("Reshape", [source, target])  # says everything by itself
    if first is not None and last is not None:
        inferred = [i for i, size in enumerate(numbers or ()) if size == -1]
        found = reshape_target(first, last, inferred=inferred)  # pyright: ignore[reportArgumentType] - dimensions
        if found is not None:
            return NewNode("Reshape", [source, NewInitializer.ints(found, f"{source.name}_shape")])
    if target is not None and numbers is None and _never_zero(target, context):
        return NewNode("Reshape", [source, target])
    return None


def _never_zero(target: ir.Value, context: Context) -> bool:
    """Whether a computed target has no place that copies the input's size."""
    content = context.symbolic.of(target)
    if not isinstance(content, tuple):
        return False
    return all(isinstance(size, int) and size != 0 for size in content)


def _merged_axes(
    above: ir.Node, node: ir.Node, source: ir.Value, context: Context
) -> NewNode | None:
    """Unsqueeze after Unsqueeze, Squeeze after Squeeze: works whatever the sizes."""
    if above.op_type != node.op_type or node.op_type not in ("Squeeze", "Unsqueeze"):
        return None
    if node.op_type == "Unsqueeze":
        inner_rank, outer_rank = context.rank(above.outputs[0]), context.rank(node.outputs[0])
    else:
        inner_rank, outer_rank = context.rank(source), context.rank(above.outputs[0])
    if inner_rank is None or outer_rank is None:
        return None
    inner, outer = axes_of(above, inner_rank, context), axes_of(node, outer_rank, context)
    if not inner or not outer:
        return None
    if node.op_type == "Unsqueeze":
        kept = [place for place in range(outer_rank) if place not in outer]
        axes = sorted([*outer, *(kept[axis] for axis in inner)])
    else:
        kept = [place for place in range(inner_rank) if place not in inner]
        axes = sorted([*inner, *(kept[axis] for axis in outer)])
    return view(node.op_type, source, axes, context)


def _only_views(value: ir.Value) -> bool:
    if value.is_graph_output() or use_count(value) > 16:
        return False
    return all(use.node.op_type in RESHAPING and use.idx == 0 for use in value.uses())


def _bookkeeping(node: ir.Node) -> list[ir.Node]:
    """What computes the shape operand and nothing else."""
    operand = given(node, 1)
    return exclusive_producers([None if operand is None else operand.producer()], around=[node])
