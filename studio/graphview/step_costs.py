"""What every step of a trace changes in the cost of the graph, so that all steps add up."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.cost import Cost, Sizes, node_cost
from optimizer.model.graph import node_id, walk_nodes
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.trace import Rewrite
from studio.graphview.affected import affected

_NOTHING = Cost()


class StepCosts:
    """The costs of all live nodes, kept up to date from step to step."""

    def __init__(self, state: GraphState) -> None:
        self._state, self._sizes = state, Sizes.of(state.model.graph)
        nodes = walk_nodes(state.model.graph)
        self._costs = {node_id(node): self._cost(node) for node in nodes}

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
        for identity in affected(self._state, rewrite):
            new = _NOTHING if identity in gone else self._cost(self._state.nodes[identity])
            old = self._costs.pop(identity, _NOTHING)
            if identity not in gone:
                self._costs[identity] = new
            flops += new.flops - old.flops
            moved += new.bytes_moved - old.bytes_moved
        return flops, moved

    def _cost(self, node: ir.Node) -> Cost:
        return node_cost(node, self._sizes) or _NOTHING
