"""Recurrent layers, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.model.graph import is_used
from optimizer.passes.draft import TO_THE_END, NotHere, dims_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

MOST_STEPS = 64
"""Longer sequences are left as they are: every step is a dozen nodes."""
_ACTIVATIONS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_KNOWN = {name.lower(): name for name in ("Relu", "Sigmoid", "Tanh")}


@register
class UnrollRecurrence(Pass):
    """Unroll LSTM, GRU and RNN.

    What it does:
        The products with the inputs of all steps are one; then every step is written with the
        operators it consists of, its state going from one to the next.
    Before:
        LSTM
    After:
        MatMul → Add → (Gather → MatMul → Add → Split → Sigmoid … Tanh → Mul → Add → …) × steps
    When it is safe:
        The number of steps is known and at most 64, all sequences are as long, biases are constant.
        There are no peepholes, nothing is clipped, and gates are Sigmoid, Tanh or Relu.
    Numerics:
        The same mathematics; the runtime's kernels approximate the exponential.
    Source:
        Hochreiter, Schmidhuber 1997; Cho et al. 2014; ONNX operator specification.
    """

    id = "unroll-recurrence"
    exactness = "reassociates"
    order = 35

    profile: str = "matrix-engine"

    @lowers("LSTM", "GRU", "RNN", name="StepAfterStep")
    def match(self, lowering: Lowering) -> Replacement:
        """Each direction on its own, then side by side."""
        steps = _steps(lowering)
        directions = _directions(lowering)
        ran = [_run(lowering, at, steps, reverse=back) for at, back in enumerate(directions)]
        made: dict[ir.Value, Operand] = {}
        outputs = lowering.node.outputs
        if is_used(outputs[0]):
            sides = [_sequence(lowering, states) for states in ran]
            several = len(sides) > 1
            made[outputs[0]] = lowering.new("Concat", *sides, axis=1) if several else sides[0]
        ends = [states[0 if back else -1] for states, back in zip(ran, directions, strict=True)]
        for index, output in enumerate(outputs[1:]):
            if is_used(output):
                made[output] = _side_by_side(lowering, [end[index] for end in ends])
        why = f"Its {steps} steps are written one after the other."
        return Replacement([lowering.node], made, why, tuple(lowering.made))


State = tuple[Operand, ...]
"""What a step hands on: the hidden state, and an LSTM's cell."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """One direction of a layer.

    Attributes:
        weights: of the hidden state, transposed; a GRU has those of its last gate apart.
        bias: of the product with a GRU's last gate, where that is reset behind it.
        functions: of the gates, as operators.
        hidden: numbers of the hidden state.
        reset_behind: whether a GRU resets its state behind the product.
    """

    weights: tuple[Operand, ...]
    bias: Operand | None
    functions: tuple[str, ...]
    hidden: int
    reset_behind: bool


def _steps(lowering: Lowering) -> int:
    """How many steps there are.

    Raises:
        NotHere: too many, or not the same for all.
    """
    count = dims_of(lowering.input(0))[0]
    if lowering.of("layout"):
        raise NotHere("its batch comes first")
    if count is None or count > MOST_STEPS:
        told = "free in the file" if count is None else f"{count}, more than {MOST_STEPS}"
        raise NotHere(f"the number of its steps is {told}")
    lengths = lowering.optional_input(4)
    known = lowering.constant(lengths)
    if lengths is not None and (known is None or (known != count).any()):
        raise NotHere("its sequences may end early")
    if lowering.of("clip") or lowering.of("input_forget") or lowering.optional_input(7) is not None:
        raise NotHere("it clips, couples gates, or looks at its cell (peepholes)")
    return count


def _directions(lowering: Lowering) -> tuple[bool, ...]:
    """Whether each direction runs from the end."""
    direction = lowering.text("direction", "forward")
    return {"forward": (False,), "reverse": (True,)}.get(direction, (False, True))


def _run(lowering: Lowering, at: int, steps: int, *, reverse: bool) -> list[State]:
    """The states after every step of one direction, in the order of the steps."""
    cell, gates = _cell(lowering, at)
    states: dict[int, State] = {}
    state = _initial(lowering, at, cell.hidden)
    for step in reversed(range(steps)) if reverse else range(steps):
        given = lowering.new("Gather", gates, lowering.place(step), axis=0)
        state = states[step] = _STEPS[lowering.node.op_type](lowering, cell, given, state)
    return [states[step] for step in range(steps)]


def _cell(lowering: Lowering, at: int) -> tuple[_Cell, Operand]:
    """A direction, and what its gates get from the inputs of all steps."""
    kind = lowering.node.op_type
    hidden = dims_of(lowering.input(2))[2]
    if hidden is None:
        raise NotHere("the size of its state is free in the file")
    behind = kind == "GRU" and bool(lowering.of("linear_before_reset"))
    gates: Operand = lowering.new("MatMul", lowering.input(0), _weights(lowering, 1, at))
    bias = _bias(lowering, at)
    apart: Operand | None = None
    if bias is not None:
        of_inputs, of_state = bias
        if behind:
            apart = lowering.weight(of_state[2 * hidden :])
            of_state = np.concatenate([of_state[: 2 * hidden], np.zeros_like(of_state[:hidden])])
        gates = lowering.new("Add", gates, lowering.weight(of_inputs + of_state))
    cuts = ((0, 2 * hidden), (2 * hidden, 3 * hidden)) if kind == "GRU" else ((0, TO_THE_END),)
    weights = tuple(_weights(lowering, 2, at, rows) for rows in cuts)
    return _Cell(weights, apart, _functions(lowering, at), hidden, behind), gates


def _weights(
    lowering: Lowering, index: int, at: int, rows: tuple[int, int] = (0, TO_THE_END)
) -> Operand:
    """Rows of the weights of a direction, transposed."""
    value = lowering.input(index)
    known = lowering.constant(value)
    if known is not None:
        return lowering.weight(known[at][rows[0] : rows[1]].T)
    own: Operand = lowering.new("Gather", value, lowering.place(at), axis=0)
    if rows != (0, TO_THE_END):
        own = lowering.slice(own, [0], [rows[0]], [rows[1]])
    return lowering.new("Transpose", own, perm=[1, 0])


def _bias(lowering: Lowering, at: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Of the products with the inputs and with the state."""
    value = lowering.optional_input(3)
    known = lowering.constant(value)
    if value is None:
        return None
    if known is None:
        raise NotHere("its bias is computed")
    first, second = np.split(known[at], 2)
    return first, second


def _functions(lowering: Lowering, at: int) -> tuple[str, ...]:
    """The operators of the gates of a direction."""
    usual = _ACTIVATIONS[lowering.node.op_type]
    listed = [
        name.decode() if isinstance(name, bytes) else str(name)
        for name in lowering.of("activations") or ()
    ]
    names = listed[at * len(usual) : (at + 1) * len(usual)] or list(usual)
    for name in names:
        if name.lower() not in _KNOWN:
            raise NotHere(f"its activation {name} is none of Sigmoid, Tanh and Relu")
    return tuple(_KNOWN[name.lower()] for name in names)


def _initial(lowering: Lowering, at: int, hidden: int) -> State:
    """The state before the first step; zeros where none is given."""
    found: list[Operand] = []
    for index in (5, 6) if lowering.node.op_type == "LSTM" else (5,):
        value = lowering.optional_input(index)
        if value is None:
            found.append(lowering.like(np.zeros((1, hidden)), lowering.input(0)))
        else:
            found.append(lowering.new("Gather", value, lowering.place(at), axis=0))
    return tuple(found)


def _lstm(lowering: Lowering, cell: _Cell, given: Operand, state: State) -> State:
    """The cell is f · cell + i · g, the state o · tanh(cell)."""
    hidden, memory = state
    total = lowering.new("Add", given, lowering.new("MatMul", hidden, cell.weights[0]))
    parts = lowering.split(total, 4, cell.hidden, axis=1)
    gate, new, squash = cell.functions
    taken, shown, kept = (lowering.new(gate, part) for part in parts[:3])
    fresh = lowering.new("Mul", taken, lowering.new(new, parts[3]))
    memory = lowering.new("Add", lowering.new("Mul", kept, memory), fresh)
    return lowering.new("Mul", shown, lowering.new(squash, memory)), memory


def _gru(lowering: Lowering, cell: _Cell, given: Operand, state: State) -> State:
    """The state is (1 − z) · n + z · state, n of a state that r resets."""
    (hidden,) = state
    gate, new = cell.functions
    of_z, of_r, of_n = lowering.split(given, 3, cell.hidden, axis=1)
    product = lowering.new("MatMul", hidden, cell.weights[0])
    from_z, from_r = lowering.split(product, 2, cell.hidden, axis=1)
    kept = lowering.new(gate, lowering.new("Add", of_z, from_z))
    reset = lowering.new(gate, lowering.new("Add", of_r, from_r))
    if cell.reset_behind:
        behind: Operand = lowering.new("MatMul", hidden, cell.weights[1])
        behind = behind if cell.bias is None else lowering.new("Add", behind, cell.bias)
        recurrent = lowering.new("Mul", reset, behind)
    else:
        recurrent = lowering.new("MatMul", lowering.new("Mul", reset, hidden), cell.weights[1])
    fresh = lowering.new(new, lowering.new("Add", of_n, recurrent))
    rest = lowering.new("Mul", kept, lowering.new("Sub", hidden, fresh))
    return (lowering.new("Add", fresh, rest),)


def _rnn(lowering: Lowering, cell: _Cell, given: Operand, state: State) -> State:
    """The state is f(x + state · R)."""
    total = lowering.new("Add", given, lowering.new("MatMul", state[0], cell.weights[0]))
    return (lowering.new(cell.functions[0], total),)


_STEPS: Mapping[str, Callable[[Lowering, _Cell, Operand, State], State]] = {
    "LSTM": _lstm,
    "GRU": _gru,
    "RNN": _rnn,
}


def _sequence(lowering: Lowering, states: Sequence[State]) -> Operand:
    """The hidden states of all steps of one direction: [steps, 1, batch, hidden]."""
    apart = [lowering.unsqueeze(state[0], 0, 1) for state in states]
    return apart[0] if len(apart) == 1 else lowering.new("Concat", *apart, axis=0)


def _side_by_side(lowering: Lowering, values: Sequence[Operand]) -> Operand:
    """A state of all directions: [directions, batch, hidden]."""
    apart = [lowering.unsqueeze(value, 0) for value in values]
    return apart[0] if len(apart) == 1 else lowering.new("Concat", *apart, axis=0)
