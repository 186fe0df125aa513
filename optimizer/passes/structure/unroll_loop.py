"""Loop whose rounds are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.numbers import counted
from optimizer.passes.draft import Draft, NotHere
from optimizer.passes.structure.copying import copied, known_number, most_copied
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    Operand,
    Outcome,
    Replacement,
    given,
    producer_of,
)


@register
class UnrollLoop(Pass):
    """Unroll a Loop whose number of rounds is known.

    What it does:
        The body of a Loop is written once for each round, the number of the round as a constant;
        what the rounds give one by one is stacked at the end. Other passes then fold what depended
        on the number of the round.
    Before:
        x → Loop(3, body: Relu → Add(round))
    After:
        x → Relu → Add(0) → Relu → Add(1) → Relu → Add(2)
    When it is safe:
        The number of rounds is constant, or follows from sizes that do not vary, and no condition
        ends the Loop before. All rounds together, control flow in the body included, have at most
        `most_nodes` nodes.
    Numerics:
        Bit-identical: the same operators run in the same order.
    Source:
        ONNX operator specification, Loop.

    Attributes:
        most_nodes: nodes that a Loop may become.
    """

    id = "unroll-loop"
    exactness = "exact"
    presets = ()
    order = 20

    most_nodes: int = 256

    @rule("Loop", name="CountedLoop", reach=3)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A Loop with a known number of rounds."""
        attribute = node.attributes.get("body")
        if attribute is None or attribute.is_ref():
            return None
        body = attribute.as_graph()
        try:
            rounds = rounds_of(node, body, context)
            size = rounds * most_copied(body)
            if size > self.most_nodes:
                raise NotHere(f"it would become {size:,} nodes (limit {self.most_nodes:,})")
            return unrolled(CountedLoop(node, body, rounds), context)
        except NotHere as why:
            return Declined(f"The Loop stays: {why}")


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A Loop and how often it goes round."""

    node: ir.Node
    body: ir.Graph
    rounds: int

    @property
    def carried(self) -> int:
        """How many values go from one round to the next."""
        return len(self.node.inputs) - 2

    @property
    def stacked(self) -> int:
        """How many results there are of every round."""
        return len(self.node.outputs) - self.carried


def rounds_of(node: ir.Node, body: ir.Graph, context: Context) -> int:
    """How often the body runs.

    Raises:
        NotHere: that is not known.
    """
    limit, condition = node.inputs[0], given(node, 1)
    if condition is not None and (first := known_number(condition, context)) != 1:
        if first == 0:
            return 0
        raise NotHere("its condition is computed")
    if not _goes_on(body, context):
        raise NotHere("its body computes whether it goes on")
    rounds = None if limit is None else known_number(limit, context)
    if rounds is None:
        raise NotHere("the number of its rounds is not known")
    return max(rounds, 0)


def _goes_on(body: ir.Graph, context: Context) -> bool:
    """Whether a body never ends its Loop: it hands its condition on, or says true."""
    going_on: ir.Value | None = body.outputs[0]
    while (copy := producer_of(going_on, "Identity", "Cast")) is not None:
        going_on = copy.inputs[0]
    return going_on is body.inputs[1] or known_number(going_on, context) == 1


def unrolled(loop: CountedLoop, context: Context) -> Replacement:
    """A Loop, round by round.

    Raises:
        NotHere: its body cannot be copied.
    """
    node, body = loop.node, loop.body
    draft = Draft(context.opset(), node.name or "loop")
    carried: list[Operand | None] = [*node.inputs[2:]]
    stacks: list[list[Operand]] = [[] for _ in range(loop.stacked)]
    if not loop.rounds and any(is_used(v) for v in node.outputs[loop.carried :]):
        raise NotHere("it stacks the results of no round at all")
    for number in range(loop.rounds):
        entering = [_like(body.inputs[0], number, np.int64), _like(body.inputs[1], True, np.bool_)]
        bound = dict(zip(body.inputs, [*entering, *carried], strict=True))
        _, *results = copied(body, bound, draft)
        carried = results[: loop.carried]
        for stack, result in zip(stacks, results[loop.carried :], strict=True):
            if result is None:
                raise NotHere("its body leaves a result out")
            stack.append(draft.unsqueeze(result, 0))
    stacked = [joined(stack, draft) for stack in stacks]
    results = [*carried, *stacked]
    values = {
        old: new
        for old, new in zip(node.outputs, results, strict=True)
        if new is not None and is_used(old)
    }
    reason = f"The Loop always goes {counted(loop.rounds, 'round')}: each is written out."
    return Replacement([node], values, reason, draft.made)


def joined(stack: list[Operand], draft: Draft, axis: int = 0) -> Operand | None:
    """The results of all rounds as one."""
    if len(stack) < 2:
        return stack[0] if stack else None
    return draft.new("Concat", *stack, axis=axis)


def _like(value: ir.Value, data: Any, dtype: Any) -> NewInitializer:
    """A scalar, or a list of one where the body asks for that."""
    shape = (1,) if value.shape is not None and len(value.shape) == 1 else ()
    return NewInitializer.of(np.full(shape, data), value.name or "round", dtype)
