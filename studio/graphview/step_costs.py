"""What every step of a trace changes in the cost of the graph, so that all steps add up.

More nodes cost something else than those that come and go: who reads a tensor of another size, or
the same one twice, moves other bytes, and so does a producer whose output nobody reads now.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

import onnx_ir as ir

from optimizer.cost import Cost, Sizes, node_cost
from optimizer.model.graph import node_id, walk_nodes
from optimizer.rewrite.edits import (
    InsertNode,
    RemoveNode,
    Retype,
    SetAttributes,
    SetGraphOutput,
    SetInput,
)
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.trace import Rewrite

_NOTHING = Cost()


class StepCosts:
    """The costs of all live nodes, kept up to date from step to step."""

    def __init__(self, state: GraphState) -> None:
        self._state, self._sizes = state, Sizes.of(state.model.graph)
        nodes = walk_nodes(state.model.graph)
        self._costs = {node_id(node): self._cost(node) or _NOTHING for node in nodes}

    def total(self) -> Cost:
        """The whole graph; nodes of unknown cost count as nothing, calls as what they replaced."""
        return _sum(self._costs.values())

    def after(self, rewrite: Rewrite) -> tuple[int, int]:
        """FLOPs and bytes moved that a rewrite added; the graph stands behind it already."""
        before = {n: self._costs.pop(n, _NOTHING) for n in affected(self._state, rewrite)}
        for identity in before.keys() - set(rewrite.removed):
            known = self._cost(self._state.nodes[identity])
            self._costs[identity] = known or before[identity]
        self._share(rewrite, before)
        old, new = _sum(before.values()), self._sum_of(before)
        return new.flops - old.flops, new.bytes_moved - old.bytes_moved

    def _share(self, rewrite: Rewrite, before: Mapping[str, Cost]) -> None:
        """New calls of the model's functions do the work of what went: they cost as much."""
        functions, nodes = self._state.model.functions, self._state.nodes
        calls = [n for n in rewrite.added if functions and nodes[n].op_identifier() in functions]
        if not calls:
            return
        old, new = _sum(before.values()), self._sum_of(before)
        for left, identity in zip(range(len(calls), 0, -1), calls, strict=True):
            share = Cost(
                (old.flops - new.flops) // left,
                (old.bytes_read - new.bytes_read) // left,
                (old.bytes_written - new.bytes_written) // left,
            )
            self._costs[identity] += share
            new += share

    def _sum_of(self, nodes: Iterable[str]) -> Cost:
        return _sum(self._costs.get(identity, _NOTHING) for identity in nodes)

    def _cost(self, node: ir.Node) -> Cost | None:
        return node_cost(node, self._sizes)


def _sum(costs: Iterable[Cost]) -> Cost:
    return reduce(operator.add, costs, _NOTHING)


def affected(state: GraphState, rewrite: Rewrite) -> set[str]:
    """Ids of the nodes that came, went, or may cost something else now.

    Args:
        state: of the graph, which stands behind the rewrite already.
        rewrite: the step.
    """
    return set(_affected(state, rewrite))


def _affected(state: GraphState, rewrite: Rewrite) -> Iterator[str]:
    yield from rewrite.removed
    for edit in rewrite.edits:
        match edit:
            case InsertNode():
                yield edit.id
                yield from _producers(state, edit.inputs)
            case RemoveNode():
                yield from _producers(state, edit.inputs)
            case SetInput():
                yield edit.node
                yield from _producers(state, (edit.old, edit.new))
            case SetAttributes():
                yield edit.node
            case SetGraphOutput():
                yield from _producers(state, (edit.old, edit.new))
            case Retype():
                yield from _around(state, edit.value)
            case _:
                pass


def _producers(state: GraphState, values: tuple[str | None, ...]) -> Iterator[str]:
    for identity in values:
        value = state.value(identity)
        producer = value.producer() if value is not None else None
        if producer is not None:
            yield node_id(producer)


def _around(state: GraphState, identity: str) -> Iterator[str]:
    yield from _producers(state, (identity,))
    for use in state.values[identity].uses():
        yield node_id(use.node)
