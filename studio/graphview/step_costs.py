"""What every step of a trace changes in the cost of the graph, so that all steps add up."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.cost import Cost, node_cost
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
    """The costs of all live nodes, kept up to date from step to step.

    A rewrite changes more than the nodes that come and go: who reads a tensor of another size, or
    the same one twice, moves other bytes, and so does a producer whose output nobody reads now.
    """

    def __init__(self, state: GraphState) -> None:
        self._state = state
        nodes = walk_nodes(state.model.graph)
        self._costs = {node_id(node): _cost(node) for node in nodes}

    def total(self) -> Cost:
        """The whole graph; nodes of unknown cost count as nothing."""
        total = Cost()
        for cost in self._costs.values():
            total += cost
        return total

    def after(self, rewrite: Rewrite) -> tuple[int, int]:
        """FLOPs and bytes moved that a rewrite added; the graph stands behind it already."""
        gone = set(rewrite.removed)
        flops = moved = 0
        for identity in set(self._affected(rewrite)):
            new = _NOTHING if identity in gone else _cost(self._state.nodes[identity])
            old = self._costs.pop(identity, _NOTHING)
            if identity not in gone:
                self._costs[identity] = new
            flops += new.flops - old.flops
            moved += moved_bytes(new) - moved_bytes(old)
        return flops, moved

    def _affected(self, rewrite: Rewrite) -> Iterator[str]:
        """Nodes that came, went, or may cost something else now."""
        yield from rewrite.removed
        for edit in rewrite.edits:
            match edit:
                case InsertNode():
                    yield edit.node.id
                    yield from self._producers(edit.node.inputs)
                case RemoveNode():
                    yield from self._producers(edit.inputs)
                case SetInput():
                    yield edit.node
                    yield from self._producers((edit.old, edit.new))
                case SetAttributes():
                    yield edit.node
                case SetGraphOutput():
                    yield from self._producers((edit.old, edit.new))
                case Retype():
                    yield from self._around(edit.value)
                case _:
                    pass

    def _producers(self, values: tuple[str | None, ...]) -> Iterator[str]:
        for identity in values:
            value = self._state.value(identity)
            producer = value.producer() if value is not None else None
            if producer is not None:
                yield node_id(producer)

    def _around(self, identity: str) -> Iterator[str]:
        yield from self._producers((identity,))
        for use in self._state.values[identity].uses():
            yield node_id(use.node)


def moved_bytes(cost: Cost) -> int:
    """Bytes read and written."""
    return cost.bytes_read + cost.bytes_written


def _cost(node: ir.Node) -> Cost:
    return node_cost(node) or _NOTHING
