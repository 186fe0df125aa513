"""What is cheapest to cut so that two ends of a network come apart: a choice between two sides."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from math import inf
from typing import Any, cast

import numpy as np

from optimizer.elimination import Factor, least

_UNIT = 1e6
"""Costs are counted in whole millionths: sums of floats would make paths that never end."""
MOST_ENTRIES = 1 << 10
"""Of one table: what is open at once in most networks is far less, and time grows with it."""

_Capacities = dict[tuple[Hashable, Hashable], int | None]


class MinimumCut:
    """A network whose edges cost what they cost if they lead from the near side to the far one.

    Args:
        near: the vertex that is on the near side.
        far: the one on the other.
    """

    def __init__(self, near: Hashable, far: Hashable) -> None:
        self._near, self._far = near, far
        self._capacities: _Capacities = {}
        self._hubs = 0

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

    def edge_to_any(self, start: Hashable, ends: Collection[Hashable], cost: float) -> None:
        """Pay so much, once, where `start` is near and any of `ends` far."""
        hub = self._hub(ends)
        self.edge(start, hub, cost)
        for end in ends:
            self.edge(hub, end, None)

    def edge_from_any(self, starts: Collection[Hashable], end: Hashable, cost: float) -> None:
        """Pay so much, once, where any of `starts` is near and `end` far."""
        hub = self._hub(starts)
        self.edge(hub, end, cost)
        for start in starts:
            self.edge(start, hub, None)

    def _hub(self, vertices: Collection[Hashable]) -> Hashable:
        """A vertex that must follow any of these; of one alone that one."""
        self._hubs += 1
        return next(iter(vertices)) if len(vertices) == 1 else ("hub", self._hubs)

    def far_side(self) -> frozenset[Hashable]:
        """The vertices on the far side of the cheapest cut, as few as there may be.

        They are the same whatever finds them. Tables take time in proportion to the vertices where
        few of them depend on each other at once; that of augmenting paths grows with their length,
        too.
        """
        names = dict.fromkeys(vertex for edge in self._capacities for vertex in edge)
        free = [vertex for vertex in names if vertex not in (self._near, self._far)]
        numbers = {vertex: number for number, vertex in enumerate(free)}
        sides = least(self._factors(numbers), [2] * len(free), most=MOST_ENTRIES)
        if sides is None:
            return self._by_flow()
        return frozenset({self._far, *(vertex for vertex in free if sides[numbers[vertex]])})

    def _factors(self, numbers: Mapping[Hashable, int]) -> list[Factor]:
        """Edges as tables of costs: of a vertex, or two, near (0) or far (1)."""
        found: list[Factor] = []
        alone = np.zeros((len(numbers), 2))
        for (start, end), capacity in self._capacities.items():
            # Whole numbers below 2^53 are added without rounding.
            cost = inf if capacity is None else float(capacity)
            if start in numbers and end in numbers:
                table = np.array([[0.0, cost], [0.0, 0.0]])
                found.append(Factor((numbers[start], numbers[end]), table))
            elif end in numbers:
                alone[numbers[end], 1] += cost
            elif start in numbers:
                alone[numbers[start], 0] += cost
        return [*found, *(Factor((number,), costs) for number, costs in enumerate(alone))]

    def _by_flow(self) -> frozenset[Hashable]:
        import networkx  # takes longer to import than all else here

        networks = cast("Any", networkx)  # its types are partly unknown
        graph = networks.DiGraph()
        graph.add_nodes_from([self._near, self._far])
        for (start, end), capacity in self._capacities.items():
            graph.add_edge(start, end, **({} if capacity is None else {"capacity": capacity}))
        find = networks.algorithms.flow.boykov_kolmogorov
        _, (_, side) = networks.minimum_cut(graph, self._near, self._far, flow_func=find)
        return frozenset(side)
