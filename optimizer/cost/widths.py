"""The size that the speed of a class of operators depends on most."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

import onnx_ir as ir

from optimizer.cost.classes import OperatorClass
from optimizer.cost.sizes import Sizes
from optimizer.operators.movement import axes_in_order

Width = Callable[[ir.Node, Sizes], float | None]


def width_of(node: ir.Node, kind: OperatorClass, sizes: Sizes) -> float | None:
    """The size on which the rate of a class depends.

    Returns:
        filters of a group for convolutions (elements of a plane where each filter has its own
        channel), the smallest of rows, columns and depth for products, the length of a row for
        normalization and softmax, the elements that become one for reductions, how many windows
        an element lies in for pooling, elements before broadcasting changes for elementwise
        operators; for what moves data the bytes that stay side by side, all of them for a
        transpose of single elements. 1 for the others, None where a shape is unknown.
    """
    rule = _WIDTHS.get(kind)
    return 1.0 if rule is None else rule(node, sizes)


def _axes_in_order(node: ir.Node, shape: tuple[int, ...]) -> list[int]:
    given = node.attributes.get("perm")
    return axes_in_order(range(len(shape))[::-1] if given is None else given.as_ints(), shape)


def _filters(node: ir.Node, sizes: Sizes) -> float | None:
    weights = sizes.shape(node.inputs[3 if node.op_type == "QLinearConv" else 1])
    if not weights:
        return None
    groups = max(_integer(node, "group", 1), 1)
    return max(weights[0] / groups, 1.0)


def _smallest(node: ir.Node, sizes: Sizes, *, batched: bool = False) -> float | None:
    """A[…, M, K] times B[K, N]: rows of all batches count together unless B is one of a batch."""
    left, out = sizes.shape(node.inputs[0]), sizes.shape(node.outputs[0])
    if not left or not out:
        return None
    rows = out[-2:-1] if batched else (prod(out[:-1]),)
    return float(max(1, min(*rows, out[-1], left[-1])))


def _row(node: ir.Node, sizes: Sizes) -> float | None:
    """Elements over which a row is normalized."""
    shape = sizes.shape(node.inputs[0])
    if shape is None:
        return None
    if node.op_type in ("BatchNormalization", "InstanceNormalization"):
        return float(max(1, prod(shape[2:])))
    return float(max(1, shape[-1] if shape else 1))


def _reduced(node: ir.Node, sizes: Sizes) -> float | None:
    """Elements that become one."""
    before, after = sizes.elements(node.inputs[0]), sizes.elements(node.outputs[0])
    return None if before is None or after is None else max(1.0, before / max(after, 1))


def _served(node: ir.Node, sizes: Sizes) -> float | None:
    """How many windows an element lies in; elements of a window that is the whole plane."""
    kernel, out = node.attributes.get("kernel_shape"), sizes.shape(node.outputs[0])
    if out is None:
        return None
    if kernel is None or all(size == 1 for size in out[2:]):
        return _reduced(node, sizes)
    strides = node.attributes.get("strides")
    return prod(kernel.as_ints()) / max(1, prod(strides.as_ints() if strides else ()))


def _plane(node: ir.Node, sizes: Sizes) -> float | None:
    out = sizes.shape(node.outputs[0])
    return None if out is None else float(max(1, prod(out[2:])))


def _moved(node: ir.Node, sizes: Sizes) -> float | None:
    """Bytes read and written: what counts is whether they fit into a cache."""
    size_bytes = sizes.size_bytes(node.outputs[0])
    return None if size_bytes is None else float(2 * size_bytes)


def _run_of_transpose(node: ir.Node, sizes: Sizes) -> float | None:
    """Bytes of the innermost axes that stay where they are."""
    shape = sizes.shape(node.inputs[0])
    if shape is None:
        return None
    moving = _axes_in_order(node, shape)
    standing = sorted(moving)
    run = 1
    while moving and moving[-1] == standing[-1]:
        run *= shape[moving.pop()]
        standing.pop()
    return float(run * _item_bytes(node))


def _span(node: ir.Node, sizes: Sizes) -> float | None:
    """Elements in a row over which every operand either goes on or stands still.

    Beside an operand of rank 0 the runtime stops at an innermost axis of size 1.
    """
    out = sizes.shape(node.outputs[0])
    shapes = [sizes.shape(value) for value in node.inputs if value is not None]
    if out is None or None in shapes:
        return None
    if out and out[-1] == 1 and () in shapes:
        return 1.0
    span, before = 1, None
    for axis in range(1, len(out) + 1):
        if out[-axis] == 1:
            continue
        goes_on = [
            len(shape) >= axis and shape[-axis] != 1
            for shape in shapes
            if shape is not None and any(size != 1 for size in shape)
        ]
        if before is not None and goes_on != before:
            break
        span, before = span * out[-axis], goes_on
    return float(span)


def _run_of_copy(node: ir.Node, sizes: Sizes) -> float | None:
    """What lies side by side both before and after."""
    out = sizes.shape(node.outputs[0])
    if out is None:
        return None
    if node.op_type == "Concat":
        axis = _integer(node, "axis", 0)
        return float(prod(out[axis:]) / max(len(node.inputs), 1) * _item_bytes(node))
    before = sizes.shape(node.inputs[0]) if node.inputs else None
    if before is None:
        return None
    return float(_common_run(before, out) * _item_bytes(node))


def _run_of_gather(node: ir.Node, sizes: Sizes) -> float | None:
    shape = sizes.shape(node.inputs[0])
    if shape is None:
        return None
    axis = _integer(node, "axis", 0) % max(len(shape), 1)
    run = prod(shape[axis + 1 :]) if node.op_type == "Gather" else 1
    return float(run * _item_bytes(node))


def _common_run(before: tuple[int, ...], after: tuple[int, ...]) -> int:
    """Elements of the innermost axes that stay whole, and of the first that does not."""
    run = 1
    for old, new in zip(reversed(before), reversed(after), strict=False):
        if old != new:
            return max(1, run * min(old, new))
        run *= old
    return max(1, run)


def _item_bytes(node: ir.Node) -> int:
    dtype = node.outputs[0].dtype
    return 4 if dtype is None or dtype.bitwidth < 8 else dtype.bitwidth // 8


def _integer(node: ir.Node, name: str, default: int) -> int:
    attribute = node.attributes.get(name)
    return default if attribute is None or attribute.is_ref() else int(attribute.value)


_WIDTHS: dict[OperatorClass, Width] = {
    OperatorClass.DENSE_CONV: _filters,
    OperatorClass.POINTWISE_CONV: _filters,
    OperatorClass.GROUPED_CONV: _filters,
    OperatorClass.DEPTHWISE_CONV: _plane,
    OperatorClass.GEMM: _smallest,
    OperatorClass.BATCHED_MATMUL: partial(_smallest, batched=True),
    OperatorClass.ELEMENTWISE: _span,
    OperatorClass.TRANSCENDENTAL: _span,
    OperatorClass.NORMALIZATION: _row,
    OperatorClass.SOFTMAX: _row,
    OperatorClass.REDUCTION: _reduced,
    OperatorClass.POOLING: _served,
    OperatorClass.TRANSPOSE: _moved,
    OperatorClass.BLOCK_TRANSPOSE: _run_of_transpose,
    OperatorClass.COPY: _run_of_copy,
    OperatorClass.GATHER: _run_of_gather,
}
