"""Products of matrices, and the recurrent layers that are made of them."""

from __future__ import annotations

from functools import partial

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.operators import flops, kernels
from optimizer.operators.broadcasting import broadcast, broadcast_dim, same
from optimizer.operators.call import CONTRIB, Call, Contradiction, Dim, Shape, Typed
from optimizer.operators.loops.products import matrix_product
from optimizer.operators.operator import Operator, OperatorClass, TypeRule
from optimizer.operators.reference import reference

FLOAT = ir.DataType.FLOAT
INT32 = ir.DataType.INT32
_Known = tuple[Dimension, ...]


def matmul(call: Call) -> list[Typed]:
    """numpy.matmul."""
    return [(call.dtype(0), matmul_shape(call.shape(0), call.shape(1)))]


def sums(dtype: ir.DataType) -> TypeRule:
    """numpy.matmul with sums of this type."""
    return lambda call: [(dtype, matmul_shape(call.shape(0), call.shape(1)))]


def quantized_matmul(call: Call) -> list[Typed]:
    """A and b are inputs 0 and 3; the element type is that of y's zero point."""
    return [(call.dtype(7), matmul_shape(call.shape(0), call.shape(3)))]


def fused_matmul(call: Call) -> list[Typed]:
    """MatMul with its last two axes transposed on either side."""
    left, right = call.shape(0), call.shape(1)
    if call.number("transBatchA", 0) or call.number("transBatchB", 0):
        return [(call.dtype(0), None)]
    if call.number("transA", 0) and left is not None and len(left) > 1:
        left = (*left[:-2], left[-1], left[-2])
    if call.number("transB", 0) and right is not None and len(right) > 1:
        right = (*right[:-2], right[-1], right[-2])
    return [(call.dtype(0), matmul_shape(left, right))]


def matmul_n_bits(call: Call) -> list[Typed]:
    """A[…, K] times a packed [N, K]."""
    shape = call.shape(0)
    return [(call.dtype(0), None if not shape else (*shape[:-1], call.number("N", 0)))]


def matmul_shape(left: Shape | None, right: Shape | None) -> Shape | None:
    """Shape of numpy.matmul(left, right)."""
    if left is None or right is None:
        return None
    if len(left) == 0 or len(right) == 0:
        raise Contradiction("a matrix product of a scalar")
    same(left[-1], right[-2:][0])
    batch = broadcast(left[:-2], right[:-2])
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    return None if batch is None else (*batch, *rows, *columns)


def gemm(call: Call) -> list[Typed]:
    """A[M, K] times B[K, N], either transposed on demand."""
    left, right = call.shape(0), call.shape(1)
    rows: Dim = None
    columns: Dim = None
    if left is not None and len(left) == 2:
        rows = left[1 if call.number("transA", 0) else 0]
    if right is not None and len(right) == 2:
        columns = right[0 if call.number("transB", 0) else 1]
    return [(call.dtype(0), (rows, columns))]


def einsum(call: Call) -> list[Typed]:
    """One size a letter; equations with an ellipsis are not described."""
    equation = call.text("equation", "").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    shapes = [call.shape(index) for index in call.inputs]
    if "." in equation or len(terms) != len(shapes):
        return [(call.dtype(0), None)]
    sizes: dict[str, Dim] = {}
    for letters, shape in zip(terms, shapes, strict=True):
        if shape is None or len(shape) != len(letters):
            return [(call.dtype(0), None)]
        for letter, dim in zip(letters, shape, strict=True):
            known = letter in sizes
            sizes[letter] = broadcast_dim(sizes[letter], dim) if known else dim
    if not arrow:
        result = "".join(sorted(letter for letter in sizes if left.count(letter) == 1))
    return [(call.dtype(0), tuple(sizes.get(letter) for letter in result))]


def determinant(call: Call) -> list[Typed]:
    """One number a matrix."""
    shape = call.shape(0)
    return [(call.dtype(0), None if shape is None else shape[:-2])]


def recurrent(call: Call) -> list[Typed]:
    """Y[seq, directions, batch, hidden], Y_h and Y_c[directions, batch, hidden].

    `layout` 1 puts the batch first: Y[batch, seq, directions, hidden], Y_h[batch, directions, …].
    """
    sequence, recurrence = call.shape(0), call.shape(2)
    directions = 2 if call.text("direction", "forward") == "bidirectional" else 1
    hidden: Dim = call.number("hidden_size", 0) or (recurrence[-1] if recurrence else None)
    batch_first = bool(call.number("layout", 0))
    seq: Dim = None
    batch: Dim = None
    if sequence is not None and len(sequence) == 3:
        seq, batch = sequence[:2]
        if batch_first:
            seq, batch = batch, seq
    dtype = call.dtype(0)
    if batch_first:
        state: Typed = (dtype, (batch, directions, hidden))
        return [(dtype, (batch, seq, directions, hidden)), state, state]
    state = (dtype, (directions, batch, hidden))
    return [(dtype, (seq, directions, batch, hidden)), state, state]


def product_class(call: Call, *, right: int = 1) -> OperatorClass | None:
    """One matrix on the right makes one product of all rows; otherwise there is one a batch."""
    if right >= len(call.node.inputs):
        return OperatorClass.ELEMENTWISE
    matrix = call.sizes(right)
    if matrix is None:
        return None
    batched = len(matrix) > 2 and any(size != 1 for size in matrix[:-2])
    return OperatorClass.BATCHED_MATMUL if batched else OperatorClass.GEMM


_PRODUCT = Operator(
    types=matmul, category="conv", flops=flops.matmul, kind=product_class, product=True,
    layout="sensitive", precision="accumulates",
)  # fmt: skip
_GEMM = _PRODUCT.named("", types=gemm, flops=flops.gemm, kind=OperatorClass.GEMM)
_CONTRIB = _PRODUCT.named("", domain=CONTRIB)

OPERATORS = (
    _PRODUCT.named("MatMul", kernel=kernels.matmul, loops=matrix_product),
    _PRODUCT.named("MatMulInteger", types=sums(INT32), precision=None),
    _PRODUCT.named(
        "QLinearMatMul", types=quantized_matmul, kind=partial(product_class, right=3),
        precision=None,
    ),
    _PRODUCT.named("Einsum", types=einsum, flops=flops.einsum),
    _GEMM.named("Gemm", kernel=reference),
    _GEMM.named("FusedGemm", domain=CONTRIB),
    _CONTRIB.named(
        "MatMulNBits", types=matmul_n_bits, flops=flops.matmul_n_bits,
        kind=OperatorClass.GEMM, precision=None,
    ),
    _CONTRIB.named("FusedMatMul", types=fused_matmul),
    *_CONTRIB.named("", types=sums(FLOAT), category="quant", precision=None).each(
        "DynamicQuantizeMatMul MatMulIntegerToFloat"
    ),
    *Operator(domain=CONTRIB, category="conv").each("GemmFastGelu TransposeMatMul"),
    Operator("Det", determinant),
    *Operator(
        types=recurrent, category="conv", flops=flops.recurrent, kind=OperatorClass.RECURRENT,
        layout="sensitive", precision="accumulates",
    ).each("GRU LSTM RNN"),
)  # fmt: skip
