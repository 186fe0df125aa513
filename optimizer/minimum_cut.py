"""What is cheapest to cut so that two ends of a network come apart: a choice between two sides."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

_UNIT = 1e6
"""Costs are counted in whole millionths: sums of floats would make paths that never end."""


class MinimumCut:
    """A network whose edges cost what they cost if they lead from the near side to the far one.

    Args:
        near: the vertex that is on the near side.
        far: the one on the other.
    """

    def __init__(self, near: Hashable, far: Hashable) -> None:
        self._near, self._far = near, far
        self._capacities: dict[tuple[Hashable, Hashable], int | None] = {}

    def edge(self, start: Hashable, end: Hashable, cost: float | None) -> None:
        """Pay so much where `start` is near and `end` far; None: that may not be.

        Costs of the same edge add up.
        """
        if start in (end, self._far) or end == self._near:
            return
        known = self._capacities.get((start, end), 0)
        total = None if known is None or cost is None else known + max(0, round(cost * _UNIT))
        if total != 0:
            self._capacities[start, end] = total

    def far_side(self) -> frozenset[Hashable]:
        """The vertices on the far side of the cheapest cut, as few as there may be."""
        import networkx  # takes longer to import than all else here

        networks = cast("Any", networkx)  # its types are partly unknown
        graph = networks.DiGraph()
        graph.add_nodes_from([self._near, self._far])
        for (start, end), capacity in self._capacities.items():
            graph.add_edge(start, end, **({} if capacity is None else {"capacity": capacity}))
        find = networks.algorithms.flow.boykov_kolmogorov
        _, (_, side) = networks.minimum_cut(graph, self._near, self._far, flow_func=find)
        return frozenset(side)
