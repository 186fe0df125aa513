"""Predicted time at every step of a trace; only what a step changed is predicted anew.

Whole nanoseconds, rounded node by node: every step knows exactly what it changed. How much of what
a launch reads lies far depends on all nodes before it; here it is for every launch what it is on
average for those of the source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.cost.device import DeviceProfile
from optimizer.cost.node import VIEWS, node_cost, node_costs
from optimizer.cost.predict import predict
from optimizer.cost.sizes import Sizes
from optimizer.cost.traffic import far_reads
from optimizer.model.graph import node_id, walk_nodes
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.trace import Rewrite
from studio.graphview.step_costs import affected


@dataclass(frozen=True, slots=True)
class _Priced:
    """One node: its time, and the weights that make all others' caches smaller."""

    time_ns: int = 0
    weight_bytes: int = 0
    known: bool = True


class PricedSteps:
    """The predicted times of all live nodes, kept up to date from step to step.

    Weights pass through the caches between two runs: where a rewrite moves all of them to another
    level of memory, every node's time changes, and all are predicted anew.
    """

    def __init__(self, state: GraphState, device: DeviceProfile) -> None:
        self._state, self._device = state, device
        self._sizes = Sizes.of(state.model.graph)
        costs = node_costs(state.model.graph, self._sizes)
        self._weights = sum(cost.weight_bytes for cost in costs.values())
        self._far = self._usual_far()
        self._nodes: dict[str, _Priced] = {}
        self._predict_all()

    @property
    def total_ns(self) -> int:
        """The whole graph; nodes without a prediction count as nothing."""
        return self._total_ns

    @property
    def unknown(self) -> int:
        """How many nodes have no prediction."""
        return sum(not priced.known for priced in self._nodes.values())

    def after(self, rewrite: Rewrite) -> int:
        """Nanoseconds that a rewrite added; the graph stands behind it already."""
        before = self._total_ns
        level = self._device.level(self._weights)
        changed = self._around(affected(self._state, rewrite))
        for identity in changed:
            old = self._nodes.pop(identity, _Priced())
            self._weights -= old.weight_bytes
            self._total_ns -= old.time_ns
        live = [self._state.nodes[i] for i in changed.difference(rewrite.removed)]
        live = [node for node in live if not is_constant_node(node)]
        self._weights += sum(_weights(node, self._sizes) for node in live)
        if self._device.level(self._weights) != level:
            self._predict_all()
        else:
            for node in live:
                self._predict(node)
        return self._total_ns - before

    def _around(self, changed: set[str]) -> set[str]:
        """With all readers of what these nodes make, through views.

        Where a value lies, and who may write over it, depends on who made it and who else reads it.
        """
        found, front = set(changed), [i for i in changed if i in self._state.nodes]
        while front:
            node = self._state.nodes[front.pop()]
            readers = {use.node for output in node.outputs for use in output.uses()}
            for reader in readers:
                identity = node_id(reader)
                fresh = identity not in found
                found.add(identity)
                if fresh and reader.op_type in VIEWS:
                    front.append(identity)
        return found

    def _predict_all(self) -> None:
        self._nodes.clear()
        self._total_ns = 0
        for node in self._live():
            self._predict(node)

    def _predict(self, node: ir.Node) -> None:
        found = predict(
            node, self._sizes, self._device, graph_weight_bytes=self._weights, far=self._far
        )
        time_ns = 0 if found is None else round(1000 * found.parts.total_us)
        weights = _weights(node, self._sizes)
        self._nodes[node_id(node)] = _Priced(time_ns, weights, found is not None)
        self._total_ns += time_ns

    def _usual_far(self) -> float:
        graph, sizes, device = self._state.model.graph, self._sizes, self._device
        if not device.far_us:
            return 0.0
        far = far_reads(graph, node_costs(graph, sizes), device.near_bytes)
        nodes = (predict(node, sizes, device) for node in self._live())
        launched = [far[one.node] for one in nodes if one is not None and one.parts.emit_us]
        return fmean(launched) if launched else 0.0

    def _live(self) -> Iterator[ir.Node]:
        nodes = walk_nodes(self._state.model.graph)
        return (node for node in nodes if not is_constant_node(node))


def _weights(node: ir.Node, sizes: Sizes) -> int:
    cost = node_cost(node, sizes)
    return 0 if cost is None else cost.weight_bytes
