"""What the loops of one node are like: over how many elements, and along which it reduces."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.cost.classes import MATRIX, MOVING, OperatorClass, operator_class
from optimizer.cost.sizes import Sizes
from optimizer.dimension import Dimension, TooComplex, product
from optimizer.operators.call import Call, Contradiction, Known, axis_in
from optimizer.operators.catalogue import operator_of

Rows = tuple[Dimension, Dimension, Dimension]
"""Elements outside, along and inside the axes that a node reduces."""

MOST_SUMMED = 256
"""Elements of a vector with which matrices may be multiplied in a kernel."""
_SOFTMAX_OVER_LAST = 13
_OVER_LAST = frozenset({"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
_FROM_AXIS = frozenset({"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"})


@dataclass(frozen=True, slots=True)
class Work:
    """The loops of a node.

    Attributes:
        made: elements of its first output.
        size: elements that it goes over: of its input where it reduces, else those it makes.
        rows: how it reduces; None where every element stands alone.
        apart: whether it reduces along axes that do not lie together.
        cheap: whether computing it twice costs next to nothing.
        view: whether it only gives its input another shape.
        moves: whether it only moves data, or not even that.
    """

    made: Dimension
    size: Dimension
    rows: Rows | None
    apart: bool
    cheap: bool
    view: bool
    moves: bool


def work_of(node: ir.Node, known: Known, opset: int, sizes: Sizes) -> Work | None:
    """The loops of a node; None where a rank is unknown."""
    kind = operator_class(node, sizes)
    shapes = [known(value).shape for value in (*node.inputs, *node.outputs) if value is not None]
    if None in shapes or not node.outputs:
        return None
    try:
        made = product(known(node.outputs[0]).shape or ())
        if kind in MATRIX:
            return _vector_product(node, made, known)
        axes = _reduced_axes(node, kind, known, opset)
        rows = None if axes is None else _rows(known(_data(node)).shape or (), axes)
    except (TooComplex, Contradiction):
        return None
    size = made if rows is None else product(rows)
    cheap = kind in MOVING or kind in (OperatorClass.ELEMENTWISE, OperatorClass.VIEW)
    apart = axes is not None and rows is None
    view = kind == OperatorClass.VIEW
    return Work(
        made, size, rows, apart, cheap=cheap and rows is None, view=view,
        moves=view or kind in MOVING,
    )  # fmt: skip


def _vector_product(node: ir.Node, made: Dimension, known: Known) -> Work | None:
    """A product with a short vector that is computed, too: the runtime's kernels are for others."""
    left, right = (known(value).shape for value in node.inputs if value is not None)
    computed = all(v is not None and v.producer() and not constant_of(v) for v in node.inputs)
    if node.op_type != "MatMul" or not computed or not left or not right or len(right) < 2:
        return None
    depth = left[-1]
    if right[-1] != 1 or not isinstance(depth, int) or depth > MOST_SUMMED:
        return None
    return Work(
        made, made * depth, (made, depth, 1), apart=False, cheap=False, view=False, moves=False
    )


def _data(node: ir.Node) -> ir.Value:
    data = node.inputs[0]
    assert data is not None, "a reduction has its data"
    return data


def _reduced_axes(
    node: ir.Node, kind: OperatorClass | None, known: Known, opset: int
) -> tuple[int, ...] | None:
    """The axes along which a node combines elements; None where it does not."""
    if kind not in (
        OperatorClass.SOFTMAX, OperatorClass.NORMALIZATION, OperatorClass.REDUCTION
    ) or not node.inputs or node.inputs[0] is None:  # fmt: skip
        return None
    call = Call(node, known, opset=opset)
    rank = len(call.shape(0) or ())
    if node.op_type in _OVER_LAST:
        return (rank - 1,)
    if kind == OperatorClass.REDUCTION:
        axes = call.axes("axes", 1, rank)
        keeps = call.number("noop_with_empty_axes", 0)
        return axes or (() if keeps else tuple(range(rank)))
    if kind == OperatorClass.SOFTMAX:
        flattened = opset < _SOFTMAX_OVER_LAST
        axis = axis_in(call.number("axis", 1 if flattened else -1), rank)
        return tuple(range(axis, rank)) if flattened else (axis,)
    if node.op_type in _FROM_AXIS:
        return tuple(range(axis_in(call.number("axis", -1), rank), rank))
    return tuple(range(2, rank)) if node.op_type == "InstanceNormalization" else None


def _rows(shape: tuple[Dimension, ...], axes: tuple[int, ...]) -> Rows | None:
    """Elements outside, along and inside some axes; None where others lie between."""
    moving = [(axis in axes, size) for axis, size in enumerate(shape) if size != 1]
    first = next((i for i, (reduced, _) in enumerate(moving) if reduced), len(moving))
    last = len(moving) - next(
        (i for i, (reduced, _) in enumerate(reversed(moving)) if reduced), len(moving) - first
    )
    if not all(reduced for reduced, _ in moving[first:last]):
        return None
    sizes = [size for _, size in moving]
    return product(sizes[:first]), product(sizes[first:last]), product(sizes[last:])


def copies_more(node: ir.Node, given: Container[ir.Value], works: Mapping[ir.Node, Work]) -> bool:
    """Whether a node only joins what a kernel gives to more that lies in memory already.

    ONNX Runtime copies whole blocks as fast as memory allows; a kernel chooses by element.

    Args:
        node: of any operator.
        given: what would be computed in its kernel.
        works: of nodes that may be in kernels.
    """
    joined = 0
    for value in node.inputs if node.op_type == "Concat" else ():
        maker = None if value is None else value.producer()
        work = works.get(maker) if maker is not None else None
        if value is not None and value in given and work is not None:
            if not isinstance(work.made, int):
                return False
            joined += work.made
    made = works[node].made if node in works else 0
    return joined > 0 and isinstance(made, int) and 2 * joined < made


def is_candidate(node: ir.Node) -> bool:
    """Whether code can be generated for a node's operator."""
    operator = operator_of(node)
    return operator is not None and operator.loops is not None and not operator.random
