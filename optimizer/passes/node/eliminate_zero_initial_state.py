"""Initial states that are zero."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.constants import tensor_in
from optimizer.model.graph import is_used
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewNode,
    Outcome,
    Replacement,
    given,
    producer_of,
)

_STATES = (5, 6)
"""Inputs `initial_h` and, of LSTM, `initial_c`."""


@register
class EliminateZeroInitialState(Pass):
    """Leave out an initial state that is zero.

    What it does:
        LSTM, GRU and RNN begin with zeros where no initial state is given: one that is all zeros
        is left out, and what computed its size goes away.
    Before:
        x → Shape → Gather → Concat → ConstantOfShape(0) → LSTM(x, initial_h)
    After:
        LSTM(x)
    When it is safe:
        The state is a constant, or an Expand of one, whose elements are all +0, or a
        ConstantOfShape of +0.
    Numerics:
        Bit-identical: an absent state is zeros.
    Source:
        ONNX operator specification, LSTM, GRU and RNN: "If not specified - assumed to be 0".
    """

    id = "eliminate-zero-initial-state"
    exactness = "exact"
    order = 60

    @rule("GRU", "LSTM", "RNN", name="ZeroInitialState", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Look at the states that a recurrence begins with."""
        states = [place for place in _STATES if given(node, place) is not None]
        zero = [place for place in states if _is_zero(node.inputs[place], context)]
        if not zero:
            return Declined("The initial state is not known to be zero") if states else None
        inputs = [None if place in zero else value for place, value in enumerate(node.inputs)]
        while inputs[-1] is None:
            inputs.pop()
        made = NewNode(
            node.op_type,
            inputs,
            dict(node.attributes),
            outputs=len(node.outputs),
            twin=node,
        )
        values = {old: made.output(n) for n, old in enumerate(node.outputs) if is_used(old)}
        names = " and ".join("initial_h" if place == _STATES[0] else "initial_c" for place in zero)
        reason = f"{node.op_type} begins with zeros where no {names} is given."
        return Replacement([node], values, reason, [made])


def _is_zero(value: ir.Value | None, context: Context) -> bool:
    """Whether a state is certainly zeros."""
    filled = producer_of(value, "ConstantOfShape")
    if filled is not None:
        attribute = filled.attributes.get("value")
        return attribute is None or _zeros(tensor_in(attribute).numpy())
    repeated = producer_of(value, "Expand")
    data = context.array(value if repeated is None else repeated.inputs[0])
    return data is not None and _zeros(data)


def _zeros(data: np.ndarray) -> bool:
    """Whether all elements are +0."""
    if data.dtype.kind not in "f":
        return False
    return not data.any() and not np.signbit(data).any()
