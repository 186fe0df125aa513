"""Regions of nodes that treat every row alike: which axes lead to a row does not matter to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.model.graph import is_used, readers
from optimizer.operators.catalogue import BROADCASTING, UNARY
from optimizer.passes.block.reductions import EXTREMES, reduction_of
from optimizer.rules import Context, given

Shape = tuple[Dimension, ...]

LARGEST = 20_000
"""Nodes of a region; what lies further away keeps its axes."""

_OF_RUNTIME = frozenset({"FastGelu", "Gelu", "QuickGelu"})
"""Of ONNX Runtime's own operators, those that work element by element on one input."""
_OF_LAST_AXIS = frozenset({"LayerNormalization", "LogSoftmax", "RMSNormalization", "Softmax"})
"""Operators that work along an axis, for regions the last one."""


@dataclass(frozen=True, slots=True)
class RowOperation:
    """A node of a region.

    Attributes:
        data: places of the inputs that have rows.
        vectors: places of constants that are the same for all rows.
    """

    data: tuple[int, ...]
    vectors: tuple[int, ...] = ()


def row_operation(node: ir.Node, lead: Shape, context: Context) -> RowOperation | None:
    """How a node works on rows; None if it does not, or has other leading axes.

    Args:
        node: any node.
        lead: all axes of its result but the last.
        context: of the rule that asks.
    """
    if not node.outputs or any(map(is_used, node.outputs[1:])):
        return None
    shape = context.symbolic.shape(node.outputs[0])
    if shape is None or not _has_rows(node.outputs[0], lead, context):
        return None
    if node.domain:
        alike = node.domain == "com.microsoft" and node.op_type in _OF_RUNTIME
        single = alike and len(node.inputs) == 1 and _has_rows(node.inputs[0], lead, context)
        return RowOperation((0,)) if single else None
    if node.op_type in BROADCASTING:
        return _broadcast(node, shape, context)
    if not _has_rows(node.inputs[0], lead, context):
        return None
    if (reduced := reduction_of(node, context)) is not None:
        within = reduced.axes == (len(lead),) and reduced.keep and node.op_type not in EXTREMES
        return RowOperation((0,)) if within else None
    if node.op_type == "MatMul":
        factor = node.inputs[1]
        return RowOperation((0,)) if _is_matrix(factor, context) else None
    if node.op_type in _OF_LAST_AXIS:
        axis = context.attribute(node, "axis")
        return RowOperation((0,)) if axis in (-1, len(lead)) else None
    if node.op_type in UNARY or (node.op_type == "Clip" and _numbers(node, context)):
        return RowOperation((0,))
    return None


def _broadcast(node: ir.Node, shape: Shape, context: Context) -> RowOperation | None:
    """Operands have the rows of the result, with all columns or one, or are such constants."""
    data: list[int] = []
    vectors: list[int] = []
    for place, value in enumerate(node.inputs):
        if context.is_constant(value):
            sizes = context.dims(value)
            if sizes is None or any(size != 1 for size in sizes[:-1]):
                return None
            if sizes and sizes[-1] not in (1, shape[-1]):
                return None
            vectors.append(place)
        elif context.symbolic.shape(value) in (shape, (*shape[:-1], 1)):
            data.append(place)
        else:
            return None
    return RowOperation((*data,), (*vectors,)) if data else None


def _has_rows(value: ir.Value | None, lead: Shape, context: Context) -> bool:
    shape = context.symbolic.shape(value)
    columns = shape[-1] if shape and shape[:-1] == lead else None
    return isinstance(columns, int) and columns > 0


def _is_matrix(value: ir.Value | None, context: Context) -> bool:
    return context.is_constant(value) and context.rank(value) == 2


def _numbers(node: ir.Node, context: Context) -> bool:
    return all(context.rank(given(node, place)) in (None, 0) for place in (1, 2))


def rows_around(root: ir.Node, context: Context) -> dict[ir.Node, RowOperation]:
    """A node and all those connected with it that work on the same rows, the first in order first.

    So few values cross from what is too much for one region into the next.
    """
    shape = context.symbolic.shape(root.outputs[0]) if root.outputs else None
    if shape is None or len(shape) < 3:
        return {}
    found: dict[ir.Node, RowOperation] = {}
    known = {context.position(root): root}
    pending = [*known]
    while pending and len(found) < LARGEST:
        node = known[heappop(pending)]
        operation = row_operation(node, shape[:-1], context)
        if operation is None:
            continue
        found[node] = operation
        for one in _neighbours(node, operation):
            place = context.position(one) if one.graph is root.graph else None
            if place is not None and place not in known:
                known[place] = one
                heappush(pending, place)
    return found


def _neighbours(node: ir.Node, operation: RowOperation) -> Iterator[ir.Node]:
    for place in operation.data:
        value = node.inputs[place]
        producer = None if value is None else value.producer()
        if producer is not None:
            yield producer
    yield from readers(node.outputs[0])
