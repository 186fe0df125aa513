"""Attention, in all its spellings."""

from __future__ import annotations

from optimizer.dimension import exact_divide
from optimizer.operators import flops
from optimizer.operators.broadcasting import like_first
from optimizer.operators.call import CONTRIB, Call, Dim, Typed
from optimizer.operators.loops.rotary import rotary_embedding
from optimizer.operators.operator import Operator, OperatorClass


def attention(call: Call) -> list[Typed]:
    """Y, present keys and values [batch, kv_heads, keys, width], scores [batch, heads, q, keys].

    Inputs are [batch, heads, seq, width] or [batch, seq, heads*width]; Y has the query's form.
    """
    query, key, value = (call.shape(index) for index in range(3))
    dtype = call.dtype(0)
    if query is None or key is None or value is None or not len(query) == len(key) == len(value):
        return [(dtype, None if query is None else (None,) * len(query))]
    if len(query) == 4:
        heads, kv_heads, widths = query[1], key[1], (key[3], value[3])
        result: tuple[Dim, ...] = (*query[:3], value[3])
    else:
        heads, kv_heads = call.number("q_num_heads", 0), call.number("kv_num_heads", 0)
        if heads < 1 or kv_heads < 1:
            return [(dtype, (None,) * 3)]
        widths = (exact_divide(key[2], kv_heads), exact_divide(value[2], kv_heads))
        result = (*query[:2], None if widths[1] is None else widths[1] * heads)
    past = call.shape(4)
    keys = key[-2] + past[-2] if past is not None and len(past) == 4 else key[-2]
    present: list[Typed] = [(dtype, (query[0], kv_heads, keys, width)) for width in widths]
    return [(dtype, result), *present, (dtype, (query[0], heads, query[-2], keys))]


def packed_attention(call: Call) -> list[Typed]:
    """Input[batch, seq, …], weights[…, 3*hidden]: Y[batch, seq, hidden]."""
    data, weights = call.shape(0), call.shape(1)
    width: Dim = None
    sizes = call.numbers("qkv_hidden_sizes")
    if sizes:
        width = sizes[-1]
    elif weights is not None and len(weights) == 2:
        width = exact_divide(weights[1], 3)
    known = data is not None and len(data) == 3
    lead: tuple[Dim, Dim] = (data[0], data[1]) if data is not None and known else (None, None)
    return [(call.dtype(0), (*lead, width))]


def multi_head_attention(call: Call) -> list[Typed]:
    """Y[batch, seq, v_hidden] for separate 3-d query and value; packed forms are not described."""
    query, value = call.shape(0), call.shape(2)
    if query is None or value is None or len(query) != 3 or len(value) != 3:
        return [(call.dtype(0), None)]
    return [(call.dtype(0), (query[0], query[1], value[2]))]


def group_query_attention(call: Call) -> list[Typed]:
    """Y like the query where the key is a separate input; packed forms are not described."""
    return [(call.dtype(0), call.shape(0) if call.has(1) else None)]


_ATTENTION = Operator(
    category="attn", kind=OperatorClass.ATTENTION, layout="sensitive", precision="accumulates"
)
_CONTRIB = _ATTENTION.named("", domain=CONTRIB)
_ROTARY = Operator(
    types=like_first, category="attn", layout="sensitive", precision="safe", loops=rotary_embedding
)

OPERATORS = (
    _ATTENTION.named("Attention", types=attention, flops=flops.attention),
    _CONTRIB.named("Attention", types=packed_attention, flops=flops.packed_attention),
    _CONTRIB.named(
        "MultiHeadAttention", types=multi_head_attention,
        flops=flops.multi_head_attention,
    ),
    _CONTRIB.named(
        "GroupQueryAttention", types=group_query_attention,
        flops=flops.group_query_attention,
    ),
    _CONTRIB.named("PackedAttention"),
    _CONTRIB.named("DecoderMaskedMultiHeadAttention", kind=None),
    _ROTARY.named("RotaryEmbedding"),
    _ROTARY.named("RotaryEmbedding", domain=CONTRIB, flops=flops.fixed(3)),
)  # fmt: skip
