"""Branches that a model cannot take, because an operator further on could not run then."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.model.graph import readers
from optimizer.operators.catalogue import BROADCASTING, UNARY
from optimizer.passes.structure.copying import known_number
from optimizer.passes.wording import described
from optimizer.rules import Context

_RANKS: Mapping[str, Mapping[int, int]] = {
    "Gemm": {0: 2, 1: 2}, "GRU": {0: 3}, "LSTM": {0: 3}, "RNN": {0: 3},
}  # fmt: skip
"""Axes that inputs must have, by their index."""

_SAME_RANK = UNARY | {"Cast", "Clip", "Dropout", "LeakyRelu", "LogSoftmax", "Softmax"}
_MOST = 128
"""Nodes that are looked at for one branch."""


def problem_with(owner: ir.Node, branch: ir.Graph, context: Context) -> str | None:
    """What could not run if this branch of an If were taken; None where nothing is known of that.

    Numbers of axes are followed through all that certainly runs when the If does.
    """
    return _Assumption(owner, branch, context).refuted()


class _Assumption:
    """What follows from taking a branch: numbers of axes, and numbers computed from them."""

    def __init__(self, owner: ir.Node, branch: ir.Graph, context: Context) -> None:
        self._context = context
        self._ranks: dict[ir.Value, int] = {}
        self._lengths: dict[ir.Value, int] = {}
        self._numbers: dict[ir.Value, int] = {}
        self._running = {owner.graph}
        self._exits: dict[ir.Value, list[ir.Value]] = {}
        self._pending: list[ir.Node] = []
        for given, result in zip(branch.outputs, owner.outputs, strict=True):
            self._learn(self._ranks, result, context.rank(given))

    def refuted(self) -> str | None:
        """The first operator that could not run."""
        for _ in range(_MOST):
            if not self._pending:
                return None
            node = self._pending.pop()
            if node.domain:
                continue
            if (problem := self._problem(node)) and self._matters(node):
                return problem
            self._follow(node)
        return None

    def _learn(self, facts: dict[ir.Value, int], value: ir.Value, fact: int | None) -> None:
        pending = [value]
        while pending and fact is not None:
            current = pending.pop()
            if current in facts:
                continue
            facts[current] = fact
            pending += self._exits.get(current, [])
            self._pending += (node for node in readers(current) if node.graph in self._running)

    def _rank(self, value: ir.Value | None) -> int | None:
        if value is None:
            return None
        found = self._ranks.get(value)
        return self._context.rank(value) if found is None else found

    def _number(self, value: ir.Value | None) -> int | None:
        found = None if value is None else self._numbers.get(value)
        return known_number(value, self._context) if found is None else found

    def _problem(self, node: ir.Node) -> str | None:
        wanted = {**_RANKS.get(node.op_type, {})}
        if node.op_type == "Transpose" and (perm := self._context.integers(node, "perm")):
            wanted[0] = len(perm)
        if node.op_type == "Conv" and (rank := self._context.rank(node.inputs[1])):
            wanted[0] = rank
        for index, rank in wanted.items():
            value = node.inputs[index]
            there = None if value is None else self._ranks.get(value)
            if there is not None and there != rank:
                return f"{described(node)} takes {rank} axes, and would get {there}"
        return None

    def _follow(self, node: ir.Node) -> None:
        """What is known of the results of a node."""
        name, result = node.op_type, node.outputs[0]
        source = node.inputs[0] if node.inputs else None
        if name == "If":
            self._enter(node)
        elif source is None:
            return
        elif name in _SAME_RANK:
            self._learn(self._ranks, result, self._ranks.get(source))
            self._learn(self._numbers, result, self._passed(node, self._numbers.get(source)))
        elif name in BROADCASTING:
            ranks = [rank for value in node.inputs if (rank := self._rank(value)) is not None]
            if len(ranks) == len(node.inputs):
                self._learn(self._ranks, result, max(ranks))
            self._learn(self._numbers, result, self._compared(node))
        elif name in ("Squeeze", "Unsqueeze"):
            rank, axes = self._ranks.get(source), self._context.parameter(node, "axes", 1)
            if rank is not None and axes:
                more = len(axes) if name == "Unsqueeze" else -len(axes)
                self._learn(self._ranks, result, rank + more)
        elif name == "Shape" and not {"start", "end"} & {*node.attributes}:
            self._learn(self._lengths, result, self._ranks.get(source))
        elif name == "Size":
            self._learn(self._numbers, result, self._lengths.get(source))

    def _passed(self, node: ir.Node, number: int | None) -> int | None:
        """What becomes of a number."""
        if number is None:
            return None
        match node.op_type:
            case "Identity":
                return number
            case "Not":
                return int(not number)
            case "Cast" if self._context.attribute(node, "to") == ir.DataType.BOOL:
                return int(number != 0)
            case _:
                return None

    def _compared(self, node: ir.Node) -> int | None:
        if node.op_type != "Equal":
            return None
        numbers = [self._number(value) for value in node.inputs]
        return None if None in numbers else int(numbers[0] == numbers[1])

    def _enter(self, node: ir.Node) -> None:
        """Go on in the branch that is taken, where that is known."""
        taken = self._number(node.inputs[0])
        if taken is None:
            return
        attribute = node.attributes.get("then_branch" if taken else "else_branch")
        if attribute is None or attribute.is_ref():
            return
        branch = attribute.as_graph()
        if branch in self._running:
            return
        self._running.add(branch)
        for given, result in zip(branch.outputs, node.outputs, strict=True):
            self._exits.setdefault(given, []).append(result)
            self._learn(self._ranks, result, self._rank(given))
        self._pending += branch

    def _matters(self, node: ir.Node) -> bool:
        """Whether a result of a graph needs a node: it runs in any case."""
        seen = {node}
        pending: list[ir.Value] = [*node.outputs]
        while pending:
            value = pending.pop()
            if value.is_graph_output() and value not in self._exits:
                return True
            pending += self._exits.get(value, [])
            for reader in readers(value):
                if reader not in seen and reader.graph in self._running:
                    seen.add(reader)
                    pending += reader.outputs
        return False
