"""Nodes of equal work, counted together: twelve layers of a network are one dot and one bar."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from optimizer.cost.predict import NodePrediction, Parts
from studio.cost.prediction.job import PredictedGraph

_MOST_NAME = 48


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes with the same operator, cost and predicted parts but for the launch; at least one.

    Launches differ with what the caches hold when a node begins, which is no difference in work.

    Attributes:
        detail: what tells the first one from others of its operator.
    """

    nodes: tuple[NodePrediction, ...]
    detail: str = ""

    @property
    def first(self) -> NodePrediction:
        """The one that runs first."""
        return self.nodes[0]

    @property
    def parts(self) -> Parts:
        """Of all of them; as all but launches are equal, its total is the sum of their totals."""
        return sum((node.parts for node in self.nodes), Parts())

    @property
    def total_us(self) -> float:
        """All of them, one after the other."""
        return self.parts.total_us

    @property
    def flops_per_s(self) -> float:
        """What they reach, launches included; 0 without arithmetic or without time."""
        flops = len(self.nodes) * self.first.cost.flops
        return flops / self.total_us * 1e6 if self.total_us else 0.0

    @property
    def title(self) -> str:
        """How many, operator and sizes: `6 × Conv 3×3 → 1×64×56×56`."""
        count = f"{len(self.nodes)} × " if len(self.nodes) > 1 else ""
        return f"{count}{self.first.op_type} {self.detail}".rstrip()

    @property
    def name(self) -> str:
        """Of the first one, its end where it is long."""
        name = self.first.name or self.first.node
        return name if len(name) <= _MOST_NAME else f"…{name[1 - _MOST_NAME :]}"


def grouped(graph: PredictedGraph) -> tuple[NodeGroup, ...]:
    """Equal work together, what takes longest first."""
    groups: dict[object, list[NodePrediction]] = {}
    details: dict[object, str] = {}
    for node, detail in zip(graph.nodes, graph.details, strict=True):
        key = (node.op_type, node.kind, node.cost, replace(node.parts, emit_us=0.0))
        groups.setdefault(key, []).append(node)
        details.setdefault(key, detail)
    found = [NodeGroup(tuple(group), details[key]) for key, group in groups.items()]
    return tuple(sorted(found, key=lambda group: -group.total_us))


def shares(nodes: Iterable[NodePrediction]) -> dict[str, float]:
    """Share of the time in nodes that launch, memory or compute bounds, the largest first."""
    found = {"launch": 0.0, "memory": 0.0, "compute": 0.0}
    for node in nodes:
        found[node.parts.limit] += node.parts.total_us
    total = sum(found.values()) or 1.0
    return {limit: us / total for limit, us in sorted(found.items(), key=lambda item: -item[1])}
