"""Operators that multiply and accumulate: products of matrices, convolutions, recurrences."""

from __future__ import annotations

from math import prod

from optimizer.operators.call import Call
from optimizer.operators.flops.elements import times


def matmul(call: Call) -> int | None:
    """2 * out * K, A[…, M, K] (K second to last where A is transposed)."""
    left = call.sizes(0)
    if not left:
        return None
    transposed = call.number("transA", 0) and len(left) > 1
    return times(2 * left[-2 if transposed else -1], call.out())


def matmul_n_bits(call: Call) -> int | None:
    """2 * out * K; unpacking is not counted."""
    return times(2 * call.number("K", 0), call.out())


def gemm(call: Call) -> int | None:
    """2 * out * K, and out for the bias."""
    left = call.sizes(0)
    if left is None or len(left) != 2:
        return None
    inner = left[0 if call.number("transA", 0) else 1]
    return times(2 * inner + call.has(2), call.out())


def conv(call: Call) -> int | None:
    """2 * out * (C/group * kernel), W[M, C/group, kernel…], and out for the bias."""
    return _conv(call, weights=1, bias=call.has(2))


def quantized_conv(call: Call) -> int | None:
    """As Conv, with w at input 3 and the bias at 8."""
    return _conv(call, weights=3, bias=call.has(8))


def _conv(call: Call, *, weights: int, bias: bool) -> int | None:
    kernel = call.sizes(weights)
    return None if kernel is None else times(2 * prod(kernel[1:]) + bias, call.out())


def conv_transpose(call: Call) -> int | None:
    """2 * in * (M/group * kernel), W[C, M/group, kernel…], and out for the bias."""
    kernel, count, out = call.sizes(1), call.count(), call.out()
    if kernel is None or count is None or out is None:
        return None
    return 2 * count * prod(kernel[1:]) + call.has(2) * out


def einsum(call: Call) -> int | None:
    """2 * product of all letters' sizes; 1 * for a single operand."""
    terms = call.text("equation", "").replace(" ", "").split("->")[0].split(",")
    sizes: dict[str, int] = {}
    for index, letters in enumerate(terms):
        shape = call.sizes(index)
        if shape is None or len(shape) != len(letters):
            return None
        for letter, size in zip(letters, shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
    return (2 if len(terms) > 1 else 1) * prod(sizes.values())


def recurrent(call: Call) -> int | None:
    """2 * seq*batch*directions * gates*hidden * (in + hidden), the gates' own arithmetic left out.

    X[seq, batch, in], W[directions, gates*hidden, in], R[directions, gates*hidden, hidden].
    """
    data, weights, recurrence = (call.sizes(index) for index in range(3))
    if data is None or weights is None or recurrence is None:
        return None
    return 2 * data[0] * data[1] * (prod(weights) + prod(recurrence))
