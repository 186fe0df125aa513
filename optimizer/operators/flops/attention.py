"""Attention in all its spellings: two products and a softmax between them."""

from __future__ import annotations

from math import prod

from optimizer.operators.call import Call


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
