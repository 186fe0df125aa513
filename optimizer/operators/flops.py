"""Floating-point operations of each operator, from its shapes.

A multiply-accumulate counts 2 and every other elementary operation 1, whatever it costs a machine
(a fused operator counts what its parts count, so that fusing changes traffic and not arithmetic).
Moving data counts 0. Formulas name the shapes they use; `out` is the number of output elements.
"""

from __future__ import annotations

from math import prod

from optimizer.operators.call import Call
from optimizer.operators.operator import Formula


def times(factor: int, count: int | None) -> int | None:
    """The product; unknown where the count is."""
    return None if count is None else factor * count


def per_element(call: Call) -> int | None:
    """out: one operation for each element of the output."""
    return call.out()


def fixed(factor: int) -> Formula:
    """`factor` operations for each element of the output."""
    return lambda call: times(factor, call.out())


def moving(call: Call) -> int:
    """Moving data is no arithmetic."""
    return 0


def per_input(factor: int) -> Formula:
    """`factor` operations for each element of the input."""
    return lambda call: times(factor, call.count())


def variadic(call: Call) -> int | None:
    """(inputs - 1) * out, Mean divides as well."""
    operands = len(call.node.inputs)
    return times(operands - (call.node.op_type != "Mean"), call.out())


def pool(call: Call) -> int | None:
    """Out * kernel."""
    kernel = call.numbers("kernel_shape")
    return None if kernel is None else times(prod(kernel), call.out())


def local_response_normalization(call: Call) -> int | None:
    """Out * (2*size + 3): squares and sums over the window, then scale, power, divide."""
    return times(2 * call.number("size", 1) + 3, call.out())


def resize(call: Call) -> int | None:
    """Nearest moves only; linear 2*2^d and cubic 2*4^d for each output, d spatial axes."""
    mode, shape = call.text("mode", "nearest"), call.sizes(0)
    if mode == "nearest" or shape is None:
        return None if shape is None else 0
    taps = 4 if mode == "cubic" else 2
    return times(2 * taps ** max(len(shape) - 2, 1), call.out())


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


def attention(call: Call) -> int | None:
    """2 * batch*heads*q*k * (d + dv) for the two products and 5 * batch*heads*q*k for the softmax.

    Q[batch, heads, q, d] or Q[batch, q, heads*d], with as many keys as K and the past have.
    """
    query, key, value = (call.sizes(index) for index in range(3))
    if query is None or key is None or value is None:
        return None
    past = call.sizes(4)
    keys = key[-2] + (past[-2] if past else 0)
    heads = query[1] if len(query) == 4 else call.number("q_num_heads", 1)
    batch, queries = query[0], query[-2]
    width = query[-1] if len(query) == 4 else query[-1] // heads
    kv_heads = call.number("kv_num_heads", heads)
    value_width = value[-1] if len(value) == 4 else value[-1] // max(kv_heads, 1)
    return batch * heads * queries * keys * (2 * (width + value_width) + 5)


def multi_head_attention(call: Call) -> int | None:
    """As Attention: query[batch, q, hidden], key[batch, k, hidden] or [batch, heads, k, d]."""
    query, key, value = (call.sizes(index) for index in range(3))
    if query is None or key is None or value is None or len(query) != 3:
        return None
    heads = call.number("num_heads", 1)
    past = call.sizes(6)
    keys = key[-2] + (past[-2] if past else 0)
    value_hidden = value[-1] if len(value) == 3 else value[1] * value[-1]
    return query[0] * query[1] * keys * (2 * (query[2] + value_hidden) + 5 * heads)


def group_query_attention(call: Call) -> int | None:
    """As Attention, over the keys of the present cache [batch, kv_heads, k, d] (output 1)."""
    query, present = call.sizes(0), call.result(1)
    if query is None or present is None or not call.has(1):
        return None
    heads = call.number("num_heads", 1)
    return query[0] * query[1] * present[-2] * (4 * query[2] + 5 * heads)


def packed_attention(call: Call) -> int | None:
    """2 * batch*seq * in*3*hidden for the projection, then as Attention over the same sequence."""
    data, weights = call.sizes(0), call.sizes(1)
    if data is None or weights is None or len(data) != 3:
        return None
    batch, seq, _ = data
    hidden = weights[1] // 3
    heads = call.number("num_heads", 1)
    return batch * seq * (2 * prod(weights) + weights[1] + seq * (4 * hidden + 5 * heads))
