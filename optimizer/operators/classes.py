"""Classes of operators that only the shapes of a node tell."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.operators.call import Call
from optimizer.operators.operator import OperatorClass


def convolution(call: Call, *, weights: int = 1) -> OperatorClass | None:
    """W[M, C/group, kernel…]; of ConvTranspose W[C, M/group, kernel…].

    A window of one element needs no rearranged input, whatever the groups: a matrix product.
    """
    kernel = call.sizes(weights)
    if kernel is None or len(kernel) < 2:
        return None
    groups = call.number("group", 1)
    if groups > 1 and kernel[1] == 1 and groups == kernel[0]:
        return OperatorClass.DEPTHWISE_CONV
    if all(size == 1 for size in kernel[2:]):
        return OperatorClass.POINTWISE_CONV
    return OperatorClass.DENSE_CONV if groups == 1 else OperatorClass.GROUPED_CONV


def product(call: Call, *, right: int = 1) -> OperatorClass | None:
    """One matrix on the right makes one product of all rows; otherwise there is one a batch."""
    if right >= len(call.node.inputs):
        return OperatorClass.ELEMENTWISE
    matrix = call.sizes(right)
    if matrix is None:
        return None
    batched = len(matrix) > 2 and any(size != 1 for size in matrix[:-2])
    return OperatorClass.BATCHED_MATMUL if batched else OperatorClass.GEMM


def transpose(call: Call) -> OperatorClass | None:
    """Whether the innermost axis stays, so that whole blocks move."""
    shape = call.sizes(0)
    if shape is None:
        return None
    given = call.numbers("perm")
    order = axes_in_order(range(len(shape))[::-1] if given is None else given, shape)
    stays = not order or order[-1] == max(order)
    return OperatorClass.BLOCK_TRANSPOSE if stays else OperatorClass.TRANSPOSE


def axes_in_order(permutation: Iterable[int], shape: tuple[int, ...]) -> list[int]:
    """The axes of a Transpose's input as its output has them, without those of size 1."""
    return [axis for axis in permutation if axis < len(shape) and shape[axis] != 1]
