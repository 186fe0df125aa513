"""Recurrent layers and attention."""

from __future__ import annotations

from optimizer.model.dimension import Dimension, exact_divide
from optimizer.operators.call import CONTRIB, Call, Dim, Typed, types


@types("LSTM", "GRU", "RNN")
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


@types("Attention")
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


@types("Attention", domain=CONTRIB)
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


@types("MultiHeadAttention", domain=CONTRIB)
def multi_head_attention(call: Call) -> list[Typed]:
    """Y[batch, seq, v_hidden] for separate 3-d query and value; packed forms are not described."""
    query, value = call.shape(0), call.shape(2)
    if query is None or value is None or len(query) != 3 or len(value) != 3:
        return [(call.dtype(0), None)]
    return [(call.dtype(0), (query[0], query[1], value[2]))]


@types("GroupQueryAttention", domain=CONTRIB)
def group_query_attention(call: Call) -> list[Typed]:
    """Y like the query where the key is a separate input; packed forms are not described."""
    return [(call.dtype(0), call.shape(0) if call.has(1) else None)]


@types("EmbedLayerNormalization", domain=CONTRIB)
def embed_layer_normalization(call: Call) -> list[Typed]:
    """input_ids[batch, seq], word_embedding[…, hidden]: Y[batch, seq, hidden]."""
    ids, table = call.shape(0), call.shape(2)
    if ids is None or table is None or len(ids) != 2 or len(table) != 2:
        return [(call.dtype(2), None)]
    width: Dimension = table[1]
    return [(call.dtype(2), (ids[0], ids[1], width))]
