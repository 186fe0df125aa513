"""Operators that multiply and accumulate: products of matrices, convolutions, recurrences."""

from __future__ import annotations

from math import prod

from optimizer.cost.formulas.operation import Formulas, Operation, times
from optimizer.operators.call import CONTRIB

FORMULAS = Formulas()


@FORMULAS.of("MatMul", "MatMulInteger", "QLinearMatMul")
@FORMULAS.of("MatMulIntegerToFloat", "DynamicQuantizeMatMul", domain=CONTRIB)
@FORMULAS.of("FusedMatMul", domain=CONTRIB)
def matmul(operation: Operation) -> int | None:
    """2 * out * K, A[…, M, K] (K second to last where A is transposed)."""
    left = operation.shape(0)
    if not left:
        return None
    transposed = operation.number("transA", 0) and len(left) > 1
    return times(2 * left[-2 if transposed else -1], operation.out())


@FORMULAS.of("MatMulNBits", domain=CONTRIB)
def matmul_n_bits(operation: Operation) -> int | None:
    """2 * out * K; unpacking is not counted."""
    return times(2 * operation.number("K", 0), operation.out())


@FORMULAS.of("Gemm")
@FORMULAS.of("FusedGemm", domain=CONTRIB)
def gemm(operation: Operation) -> int | None:
    """2 * out * K, and out for the bias."""
    left = operation.shape(0)
    if left is None or len(left) != 2:
        return None
    inner = left[0 if operation.number("transA", 0) else 1]
    return times(2 * inner + operation.has(2), operation.out())


@FORMULAS.of("Conv", "ConvInteger")
@FORMULAS.of("FusedConv", "NhwcFusedConv", domain=CONTRIB)
def conv(operation: Operation) -> int | None:
    """2 * out * (C/group * kernel), W[M, C/group, kernel…], and out for the bias."""
    return _conv(operation, weights=1, bias=operation.has(2))


@FORMULAS.of("QLinearConv")
def quantized_conv(operation: Operation) -> int | None:
    """As Conv, with w at input 3 and the bias at 8."""
    return _conv(operation, weights=3, bias=operation.has(8))


def _conv(operation: Operation, *, weights: int, bias: bool) -> int | None:
    kernel = operation.shape(weights)
    return None if kernel is None else times(2 * prod(kernel[1:]) + bias, operation.out())


@FORMULAS.of("ConvTranspose")
def conv_transpose(operation: Operation) -> int | None:
    """2 * in * (M/group * kernel), W[C, M/group, kernel…], and out for the bias."""
    kernel, count, out = operation.shape(1), operation.count(), operation.out()
    if kernel is None or count is None or out is None:
        return None
    return 2 * count * prod(kernel[1:]) + operation.has(2) * out


@FORMULAS.of("Einsum")
def einsum(operation: Operation) -> int | None:
    """2 * product of all letters' sizes; 1 * for a single operand."""
    terms = operation.text("equation", "").replace(" ", "").split("->")[0].split(",")
    sizes: dict[str, int] = {}
    for index, letters in enumerate(terms):
        shape = operation.shape(index)
        if shape is None or len(shape) != len(letters):
            return None
        for letter, size in zip(letters, shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
    return (2 if len(terms) > 1 else 1) * prod(sizes.values())


@FORMULAS.of("LSTM", "GRU", "RNN")
def recurrent(operation: Operation) -> int | None:
    """2 * seq*batch*directions * gates*hidden * (in + hidden), the gates' own arithmetic left out.

    X[seq, batch, in], W[directions, gates*hidden, in], R[directions, gates*hidden, hidden].
    """
    data, weights, recurrence = (operation.shape(index) for index in range(3))
    if data is None or weights is None or recurrence is None:
        return None
    return 2 * data[0] * data[1] * (prod(weights) + prod(recurrence))
