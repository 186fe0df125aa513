"""Two layouts: the cheapest assignment is a minimum cut.

A choice lies on the side of its layout. A value is converted once for
all readers that take the other layout. Source: Picard and Queyranne 1980 for selection as a cut.
"""

from __future__ import annotations

from optimizer.layout.assignment.problem import Layout, LayoutAssignment, LayoutProblem
from optimizer.minimum_cut import MinimumCut

_NEAR, _FAR = "near", "far"


def minimum_cut(problem: LayoutProblem, near: Layout, far: Layout) -> LayoutAssignment:
    """The cheapest assignment of a problem that has no other layouts."""
    cut = MinimumCut(_NEAR, _FAR)
    for index, costs in enumerate(problem.candidates):
        cut.edge(_NEAR, index, costs.get(far))
        cut.edge(index, _FAR, costs.get(near))
    for flow in problem.flows:
        readers = dict.fromkeys(flow.readers)
        cut.edge_to_any(flow.source, readers, flow.costs.get((near, far), 0.0))
        cut.edge_from_any(readers, flow.source, flow.costs.get((far, near), 0.0))
    farther = cut.far_side()
    layouts = tuple(far if i in farther else near for i in range(len(problem.candidates)))
    cost = problem.cost(layouts)
    return LayoutAssignment(layouts, cost, cost)
