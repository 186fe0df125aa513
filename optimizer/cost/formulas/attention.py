"""Attention in all its spellings: two products and a softmax between them."""

from __future__ import annotations

from math import prod

from optimizer.cost.formulas.operation import Formulas, Operation
from optimizer.operators.call import CONTRIB

FORMULAS = Formulas()


@FORMULAS.of("Attention")
def attention(operation: Operation) -> int | None:
    """2 * batch*heads*q*k * (d + dv) for the two products and 5 * batch*heads*q*k for the softmax.

    Q[batch, heads, q, d] or Q[batch, q, heads*d], with as many keys as K and the past have.
    """
    query, key, value = (operation.shape(index) for index in range(3))
    if query is None or key is None or value is None:
        return None
    past = operation.shape(4)
    keys = key[-2] + (past[-2] if past else 0)
    heads = query[1] if len(query) == 4 else operation.number("q_num_heads", 1)
    batch, queries = query[0], query[-2]
    width = query[-1] if len(query) == 4 else query[-1] // heads
    kv_heads = operation.number("kv_num_heads", heads)
    value_width = value[-1] if len(value) == 4 else value[-1] // max(kv_heads, 1)
    return batch * heads * queries * keys * (2 * (width + value_width) + 5)


@FORMULAS.of("MultiHeadAttention", domain=CONTRIB)
def multi_head_attention(operation: Operation) -> int | None:
    """As Attention: query[batch, q, hidden], key[batch, k, hidden] or [batch, heads, k, d]."""
    query, key, value = (operation.shape(index) for index in range(3))
    if query is None or key is None or value is None or len(query) != 3:
        return None
    heads = operation.number("num_heads", 1)
    past = operation.shape(6)
    keys = key[-2] + (past[-2] if past else 0)
    value_hidden = value[-1] if len(value) == 3 else value[1] * value[-1]
    return query[0] * query[1] * keys * (2 * (query[2] + value_hidden) + 5 * heads)


@FORMULAS.of("GroupQueryAttention", domain=CONTRIB)
def group_query_attention(operation: Operation) -> int | None:
    """As Attention, over the keys of the present cache [batch, kv_heads, k, d] (output 1)."""
    query, present = operation.shape(0), operation.result(1)
    if query is None or present is None or not operation.has(1):
        return None
    heads = operation.number("num_heads", 1)
    return query[0] * query[1] * present[-2] * (4 * query[2] + 5 * heads)


@FORMULAS.of("Attention", domain=CONTRIB)
def packed_attention(operation: Operation) -> int | None:
    """2 * batch*seq * in*3*hidden for the projection, then as Attention over the same sequence."""
    data, weights = operation.shape(0), operation.shape(1)
    if data is None or weights is None or len(data) != 3:
        return None
    batch, seq, _ = data
    hidden = weights[1] // 3
    heads = operation.number("num_heads", 1)
    return batch * seq * (2 * prod(weights) + weights[1] + seq * (4 * hidden + 5 * heads))
