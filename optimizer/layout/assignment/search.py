"""Whatever is too entangled for tables: branch and bound, within a budget of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from optimizer.layout.assignment.problem import Flow, Layout, LayoutAssignment, LayoutProblem


def branch_and_bound(problem: LayoutProblem, budget: int) -> LayoutAssignment:
    """The best assignment found, and a bound that was proven.

    What a part of the choices costs for sure is their kernels and the conversions among them, and
    the cheapest kernel of each of the others.

    Args:
        problem: any.
        budget: how many partial assignments are looked at.
    """
    search = _Search(problem, budget)
    search.run()
    return search.best()


class _Search:
    def __init__(self, problem: LayoutProblem, budget: int) -> None:
        self._problem, self._left = problem, budget
        self._order = _order(problem)
        self._least = [min(costs.values()) for costs in problem.candidates]
        place = {choice: index for index, choice in enumerate(self._order)}
        self._flows: list[list[Flow]] = [[] for _ in self._order]
        for flow in problem.flows:
            for choice in {flow.source, *flow.readers}:
                self._flows[place[choice]].append(flow)
        self._layouts: list[Layout] = [min(c, key=c.__getitem__) for c in problem.candidates]
        self._best = min(_starts(problem), key=problem.cost)
        self._cost = problem.cost(self._best)
        self._open: list[float] = []

    def best(self) -> LayoutAssignment:
        bound = min([self._cost, *self._open])
        return LayoutAssignment(self._best, self._cost, bound)

    def run(self) -> None:
        """Depth first, the cheapest next; what the budget leaves open counts with its bound."""
        stack: list[tuple[float, int, tuple[Layout, ...]]] = [(sum(self._least), 0, ())]
        while stack:
            bound, depth, chosen = stack.pop()
            if bound >= self._cost:
                continue
            if self._left <= 0:
                self._open.append(bound)
                continue
            self._left -= 1
            if depth == len(self._order):
                self._best, self._cost = self._laid_out(chosen), bound
                continue
            choice = self._order[depth]
            costs = self._problem.candidates[choice]
            found = [
                (self._extended(bound, depth, (*chosen, layout)), depth + 1, (*chosen, layout))
                for layout in costs
            ]
            stack.extend(sorted(found, key=lambda one: -one[0]))

    def _extended(self, bound: float, depth: int, chosen: tuple[Layout, ...]) -> float:
        """The bound with one choice more."""
        choice = self._order[depth]
        known = dict(zip(self._order, chosen, strict=False))
        before = {k: v for k, v in known.items() if k != choice}
        more = self._problem.candidates[choice][chosen[-1]] - self._least[choice]
        for flow in self._flows[depth]:
            more += _certain(flow, known) - _certain(flow, before)
        return bound + more

    def _laid_out(self, chosen: Sequence[Layout]) -> tuple[Layout, ...]:
        known = dict(zip(self._order, chosen, strict=True))
        return tuple(known[index] for index in range(len(chosen)))


def _certain(flow: Flow, known: Mapping[int, Layout]) -> float:
    """Conversions of a value that are certain by now."""
    made = known.get(flow.source)
    if made is None:
        return 0.0
    wanted = {known[r] for r in flow.readers if r in known and known[r] != made}
    return sum(flow.costs[made, one] for one in wanted)


def _order(problem: LayoutProblem) -> list[int]:
    """Choices so that neighbours come one after the other."""
    near: list[set[int]] = [set() for _ in problem.candidates]
    for flow in problem.flows:
        for reader in flow.readers:
            near[flow.source].add(reader)
            near[reader].add(flow.source)
    order: dict[int, None] = {}
    for start in range(len(near)):
        queue = [start]
        for choice in queue:
            if choice not in order:
                order[choice] = None
                queue.extend(sorted(near[choice] - order.keys()))
    return list(order)


def _starts(problem: LayoutProblem) -> list[tuple[Layout, ...]]:
    """Everything in one layout as far as that goes, then improved choice by choice."""
    layouts = dict.fromkeys(layout for costs in problem.candidates for layout in costs)
    found: list[tuple[Layout, ...]] = []
    for wanted in layouts:
        start = [wanted if wanted in c else min(c, key=c.__getitem__) for c in problem.candidates]
        found.append(_improved(problem, start))
    return found


def _improved(problem: LayoutProblem, layouts: list[Layout]) -> tuple[Layout, ...]:
    touching: list[list[Flow]] = [[] for _ in layouts]
    for flow in problem.flows:
        for choice in {flow.source, *flow.readers}:
            touching[choice].append(flow)
    for _ in range(20):
        before = list(layouts)
        for choice, costs in enumerate(problem.candidates):

            def cost(layout: Layout, at: int = choice) -> float:
                layouts[at] = layout
                kernels = problem.candidates[at][layout]
                return kernels + sum(flow.cost(layouts) for flow in touching[at])

            layouts[choice] = min(costs, key=cost)
        if layouts == before:
            break
    return tuple(layouts)
