"""Sizes that are computed more than once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.folding.exclusive_producers import BOOKKEEPING, exclusive_producers
from optimizer.model.graph import use_count
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    producer_of,
)

_Sizes = Dimension | tuple[Dimension, ...]
_Key = tuple[ir.Graph, ir.DataType, _Sizes]
_OPERATORS = tuple(sorted(BOOKKEEPING))


@register
class ShareShapes(Pass):
    """Compute equal sizes once.

    What it does:
        Where the same sizes are worked out again further down, the earlier result is used. Sizes
        that are the dimensions of a graph input, or a few of them, are read from that input
        directly; also instead of from a value that one other node reads, which is then free to be
        fused. Single dimensions gathered one by one and concatenated are gathered together.
    Before:
        hidden[batch, seq, 64] → Shape → Gather(1) → Range, in every layer
    After:
        ids[batch, seq] → Shape → Gather(1) → every Range
    When it is safe:
        Two integer tensors are the same expressions over the inputs' dimensions, have the same
        element type and rank, and live in the same graph.
    Numerics:
        Bit-identical: only integers are involved.
    Source:
        Value numbering, on sizes; ONNX operator specification, Shape and Gather.
    """

    id = "share-shapes"
    exactness = "exact"
    order = 14

    @rule(*_OPERATORS, name="SizesComputedBefore", reach=1)
    def reuse(self, node: ir.Node, context: Context) -> Outcome:
        """Sizes that an earlier node has worked out already."""
        output = node.outputs[0]
        sizes = _varying(output, context)
        if sizes is None or output.dtype is None or len(node.outputs) > 1:
            return None
        known = cast(dict[_Key, ir.Value], context.memory)
        graph = node.graph
        assert isinstance(graph, ir.Graph)
        key = (graph, output.dtype, sizes)
        before = known.get(key)
        if before is None or not _stands_before(before, node, context):
            known[key] = output
            return None
        if before is output or output.is_graph_output() or not _is_frontier(output, context):
            return None
        reason = f"The same sizes are known already: {_text(sizes)}."
        return Replacement([node, *_behind(node)], {output: before}, reason)

    @rule("Concat", name="ShapeOfInput", reach=3)
    def from_input(self, node: ir.Node, context: Context) -> Outcome:
        """Sizes that are consecutive dimensions of a graph input."""
        output = node.outputs[0]
        sizes = _varying(output, context)
        if not isinstance(sizes, tuple) or len(sizes) < 2 or output.dtype != ir.DataType.INT64:
            return None
        behind = _behind(node)
        if not behind or not isinstance(node.graph, ir.Graph):
            return None
        for value in node.graph.inputs:
            dims = context.symbolic.shape(value)
            place = _run_at(sizes, dims or ())
            if place is None or value.dtype is None:
                continue
            whole = dims is not None and len(dims) == len(sizes)
            if not whole and context.opset() < 15:
                continue
            part = {} if whole else {"start": place, "end": place + len(sizes)}
            shape = NewNode("Shape", [value], part)
            reason = f"{_text(sizes)} are dimensions of the input '{value.name}'."
            return Replacement([node, *behind], {output: shape.output()}, reason, [shape])
        return None

    @rule("Gather", "Slice", name="ShapeOfValue", reach=3)
    def of_value(self, node: ir.Node, context: Context) -> Outcome:
        """Dimensions of a value with one other reader that are those of a graph input."""
        output, made = node.outputs[0], producer_of(node.inputs[0], "Cast")
        sizes = _varying(output, context)
        shape = producer_of(node.inputs[0] if made is None else made.inputs[0], "Shape")
        if sizes is None or shape is None or shape.attributes or not _read_once(made, shape):
            return None
        source, graph = shape.inputs[0], node.graph
        if source is None or use_count(source) != 2 or not isinstance(graph, ir.Graph):
            return None
        if source.is_graph_input() or source.is_graph_output():
            return None
        wanted = sizes if isinstance(sizes, tuple) else (sizes,)
        for value in graph.inputs:
            dims = context.symbolic.shape(value) or ()
            if value.dtype is None or not {*wanted} <= {*dims}:
                continue
            places = [dims.index(size) for size in wanted]
            whole = NewNode("Shape", [value])
            picked = places if isinstance(sizes, tuple) else places[0]
            index = NewInitializer.of(picked, "places", np.int64)
            new = [whole, NewNode("Gather", [whole.output(), index], {"axis": 0})]
            if made is not None:
                new.append(NewNode("Cast", [new[-1].output()], dict(made.attributes)))
            reason = f"{_text(sizes)} are dimensions of the input '{value.name}'."
            matched = [one for one in (shape, made, node) if one is not None]
            return Replacement(matched, {output: new[-1].output()}, reason, new)
        return None

    @rule("Concat", name="ConcatOfGathers", reach=2)
    def gather_together(self, node: ir.Node, context: Context) -> Outcome:
        """Neighbouring operands gathered from one vector."""
        runs = _runs(node, context)
        if runs is None or len(runs) == len(node.inputs):
            return None
        new: list[NewNode] = []
        operands: list[Operand] = []
        for run in runs:
            if run.data is None or run.operands == 1:
                operands.append(run.first)
                continue
            places = NewInitializer.ints(run.places, "places")
            new.append(NewNode("Gather", [run.data, places], {"axis": 0}))
            operands.append(new[-1].output())
        if len(operands) > 1:
            new.append(NewNode("Concat", operands, dict(node.attributes)))
        merged = (v.producer() for v in node.inputs if v is not None)
        matched = [node, *(p for p in merged if p is not None and p.op_type == "Gather")]
        reason = "Elements of one vector can be gathered together."
        return Replacement(matched, {node.outputs[0]: new[-1].output()}, reason, nodes=new)


@dataclass(slots=True)
class _Run:
    """Neighbouring operands of a Concat that are gathered from the same vector, or one other."""

    first: ir.Value
    data: ir.Value | None
    places: list[int]
    operands: int = 1


def _runs(node: ir.Node, context: Context) -> list[_Run] | None:
    """The operands, neighbours gathered from the same vector taken together."""
    if context.rank(node.outputs[0]) != 1:
        return None
    runs: list[_Run] = []
    for value in node.inputs:
        if value is None:
            return None
        data, places = _picked(value, context)
        if data is not None and runs and runs[-1].data is data:
            runs[-1].places.extend(places)
            runs[-1].operands += 1
        else:
            runs.append(_Run(value, data, places))
    return runs


def _picked(value: ir.Value, context: Context) -> tuple[ir.Value | None, list[int]]:
    """Vector and constant places, for a Gather that only this operand reads."""
    node = producer_of(value, "Gather")
    if node is None or not context.single_use(value):
        return None, []
    data, places = node.inputs[0], context.ints(node.inputs[1])
    if places is None or context.rank(data) != 1 or context.rank(value) != 1:
        return None, []
    return data, places


def _varying(value: ir.Value, context: Context) -> _Sizes | None:
    """The elements when all are known and one of them varies with the inputs."""
    content = context.symbolic.of(value)
    if content is None or isinstance(content, int):
        return None
    if not isinstance(content, tuple):
        return content
    known = tuple(element for element in content if element is not None)
    if len(known) < len(content) or all(isinstance(element, int) for element in known):
        return None
    rank = context.rank(value)
    return known if rank == 1 else None


def _read_once(*nodes: ir.Node | None) -> bool:
    """Whether one node reads each of those that are there."""
    return all(node is None or use_count(node.outputs[0]) == 1 for node in nodes)


def _is_frontier(value: ir.Value, context: Context) -> bool:
    """Whether something needs these sizes that does not compute known sizes from them."""
    return any(
        use.node.op_type not in BOOKKEEPING or context.symbolic.of(use.node.outputs[0]) is None
        for use in value.uses()
    )


def _stands_before(value: ir.Value, node: ir.Node, context: Context) -> bool:
    """Whether the value is still there and certainly computed before `node`."""
    producer = value.producer()
    if producer is None or producer.graph is not node.graph:
        return False
    return producer is node or context.precedes(producer, node)


def _behind(node: ir.Node) -> list[ir.Node]:
    return exclusive_producers((v.producer() for v in node.inputs if v is not None), around=[node])


def _run_at(sizes: tuple[Dimension, ...], dims: tuple[Dimension, ...]) -> int | None:
    """Where `sizes` stand in a row within `dims`."""
    for place in range(len(dims) - len(sizes) + 1):
        if dims[place : place + len(sizes)] == sizes:
            return place
    return None


def _text(sizes: _Sizes) -> str:
    if not isinstance(sizes, tuple):
        return str(sizes)[:80]
    return f"[{', '.join(str(size)[:40] for size in sizes[:6])}]"
