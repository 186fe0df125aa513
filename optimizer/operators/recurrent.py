"""Recurrent layers."""

from __future__ import annotations

from optimizer.operators import flops
from optimizer.operators.call import Call, Dim, Typed
from optimizer.operators.operator import Operator, OperatorClass


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


OPERATORS = Operator(
    types=recurrent, category="conv", flops=flops.recurrent, kind=OperatorClass.RECURRENT,
    layout="sensitive",
).each("GRU LSTM RNN")  # fmt: skip
