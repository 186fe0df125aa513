"""Two layouts: the cheapest assignment is a minimum cut.

A choice lies on the side of its layout. A value's conversions hang on one more node each way: it
must follow any reader that takes the other layout, so that the edge to it is cut once for all
readers. Source: Picard and Queyranne 1980 for selection as a cut.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from optimizer.layout.assignment.problem import Layout, LayoutAssignment, LayoutProblem

_UNIT = 1e6
"""Costs are counted in whole millionths: sums of floats would make paths that never end."""
_SOURCE, _SINK = "source", "sink"


def minimum_cut(problem: LayoutProblem, near: Layout, far: Layout) -> LayoutAssignment:
    """The cheapest assignment of a problem that has no other layouts."""
    import networkx  # takes longer to import than all else here

    networks = cast("Any", networkx)  # its types are partly unknown
    graph = networks.DiGraph()
    graph.add_nodes_from([_SOURCE, _SINK, *range(len(problem.candidates))])
    for index, costs in enumerate(problem.candidates):
        _edge(graph, _SOURCE, index, costs.get(far))
        _edge(graph, index, _SINK, costs.get(near))
    for number, flow in enumerate(problem.flows):
        out, back = ("out", number), ("back", number)
        _edge(graph, flow.source, out, flow.costs.get((near, far), 0.0))
        _edge(graph, back, flow.source, flow.costs.get((far, near), 0.0))
        for reader in flow.readers:
            _edge(graph, out, reader, None)
            _edge(graph, reader, back, None)
    find = networks.algorithms.flow.boykov_kolmogorov
    _, (nearer, _) = networks.minimum_cut(graph, _SOURCE, _SINK, flow_func=find)
    layouts = tuple(near if i in nearer else far for i in range(len(problem.candidates)))
    cost = problem.cost(layouts)
    return LayoutAssignment(layouts, cost, cost)


def _edge(graph: Any, start: Hashable, end: Hashable, cost: float | None) -> None:
    """An edge of that capacity; of None it may not be cut."""
    if start == end or (cost is not None and round(cost * _UNIT) <= 0):
        return
    if cost is None:
        graph.add_edge(start, end)
    elif not graph.has_edge(start, end):
        graph.add_edge(start, end, capacity=round(cost * _UNIT))
    elif "capacity" in graph[start][end]:
        graph[start][end]["capacity"] += round(cost * _UNIT)
