"""Which nodes belong together: groups of connected nodes whose loops fit into one another.

Nodes are asked in the order of the graph. A node joins the groups that it reads on the highest
level if all of them fit, else it begins a group on the next one. What stays is on a higher level
than the groups that it needs, and never waits for those of its own. So an edge between two groups
always goes up, groups never wait for each other in a circle, and groups of one level are
independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.dimension import Dimension, at_least
from optimizer.fusion.work import Rows, Work, copies_more
from optimizer.runtime.graph import read_by_bodies

MOST_NODES = 160
"""Nodes of a group: code for more takes too long to compile."""
MOST_COMPUTED_AGAIN = 8
"""Nodes of a group that may be computed again for each element that reads them."""

Level = tuple[int, ...]


@dataclass(eq=False, slots=True)
class Group:
    """Nodes that may become one kernel.

    Attributes:
        level: see above; levels of parts of a group begin with the group's.
        nodes: in the order of the graph.
        rows: how its reductions reduce, all alike.
        cheap: whether all of it may be computed again wherever it is read.
        sizes: over how many elements its loops go.
    """

    level: Level
    nodes: list[ir.Node] = field(default_factory=list[ir.Node])
    rows: Rows | None = None
    cheap: bool = True
    sizes: set[Dimension] = field(default_factory=set[Dimension])

    def add(self, node: ir.Node, work: Work) -> None:
        """One more node."""
        self.nodes.append(node)
        self.rows, self.cheap = self.rows or work.rows, self.cheap and work.cheap
        self.sizes.add(work.size)

    def absorb(self, other: Group) -> None:
        """All nodes of another group."""
        self.nodes += other.nodes
        self.rows, self.cheap = self.rows or other.rows, self.cheap and other.cheap
        self.sizes |= other.sizes


@dataclass(frozen=True, slots=True)
class Grown:
    """Groups, and why nodes do not belong to the groups of what they read.

    Attributes:
        groups: in the order of their first nodes.
        cut: node -> the reason, and the node before.
    """

    groups: list[Group]
    cut: dict[ir.Node, tuple[str, ir.Node]]


def grow(
    nodes: Iterable[ir.Node],
    works: Mapping[ir.Node, Work],
    *,
    level: Level = (),
    alone: Callable[[ir.Node], bool] = lambda node: False,
) -> Grown:
    """Groups of nodes.

    Args:
        nodes: in the order of the graph.
        works: of those that may be in a group; all others are borders.
        level: which every level begins with.
        alone: says of a node that it neither joins nor is joined.
    """
    growth = _Growth(works, level, alone)
    for node in nodes:
        if not is_constant_node(node):
            growth.ask(node)
    return Grown(list(dict.fromkeys(growth.groups.values())), growth.cut)


class _Growth:
    """Groups so far."""

    def __init__(
        self, works: Mapping[ir.Node, Work], level: Level, alone: Callable[[ir.Node], bool]
    ) -> None:
        self.groups: dict[ir.Node, Group] = {}
        self.cut: dict[ir.Node, tuple[str, ir.Node]] = {}
        self._works, self._base, self._alone = works, level, alone
        self._levels: dict[ir.Node, int] = {}
        self._needs: dict[ir.Node, int] = {}

    def ask(self, node: ir.Node) -> None:
        """Give a node its level and, unless it is a border, its group."""
        read = (*node.inputs, *read_by_bodies(node))
        makers = dict.fromkeys(None if value is None else value.producer() for value in read)
        before = [maker for maker in makers if maker is not None and maker in self._levels]
        work = self._works.get(node)
        if work is None:
            after = (self._levels[maker] + (maker in self.groups) for maker in before)
            self._levels[node] = max(after, default=0)
            return
        level = max((self._levels[maker] for maker in before), default=0)
        last = [m for m in before if self._levels[m] == level and m in self.groups]
        groups = list(dict.fromkeys(self.groups[maker] for maker in last))
        reason = self._refusal(node, work, groups) if groups else ""
        if reason:
            self.cut[node] = reason, last[-1]
            groups, level = [], level + 1
        self._levels[node] = level
        group = groups[0] if groups else Group((*self._base, level))
        for other in groups[1:]:
            group.absorb(other)
            self.groups.update(dict.fromkeys(other.nodes, group))
        group.add(node, work)
        self.groups[node] = group
        self._needs[node] = 1 + sum(self._needs[maker] for maker in last if groups)

    def _is_again(self, node: ir.Node, group: Group) -> bool:
        """Whether what a node reads of a group may be computed again for each of its elements."""
        makers = (None if value is None else value.producer() for value in node.inputs)
        mine = (maker for maker in makers if maker and self.groups.get(maker) is group)
        return group.cheap and sum(self._needs[maker] for maker in mine) <= MOST_COMPUTED_AGAIN

    def _joins(self, node: ir.Node, rows: Rows | None) -> bool:
        """Whether a node puts results of reductions side by side."""
        makers = (None if value is None else value.producer() for value in node.inputs)
        made = [self._works[maker].made for maker in makers if maker in self.groups]
        return bool(rows) and self._works[node].moves and {*made} == {rows[0] * rows[2]}

    def _refusal(self, node: ir.Node, work: Work, groups: Sequence[Group]) -> str:
        """Why a node does not belong to what it reads; empty where it does."""
        if self._alone(node) or any(self._alone(group.nodes[0]) for group in groups):
            return "no schedule is known for the loops of both together"
        if sum(len(group.nodes) for group in groups) >= MOST_NODES:
            return f"the kernel before it has {MOST_NODES} nodes already"
        if copies_more(
            node, {v for group in groups for n in group.nodes for v in n.outputs}, self._works
        ):
            return "ONNX Runtime joins as fast what lies in memory already"
        if work.apart:
            return "the axes that it reduces do not lie together"
        known = {rows for rows in (work.rows, *(group.rows for group in groups)) if rows}
        if len(known) > 1:
            return "it reduces along other axes than what it reads"
        rows = next(iter(known), None)
        if not self._joins(node, rows) and not all(
            _fits(work, group, rows, self._is_again(node, group)) for group in groups
        ):
            return "it goes over another number of elements than what it reads"
        return ""


def _fits(work: Work, group: Group, rows: Rows | None, again: bool) -> bool:
    """Whether a node's loops go over the elements of a group, or a part, or compute it again."""
    if work.size in group.sizes or again:
        return True
    if rows is not None:
        outer, reduced, inner = rows
        return work.size in (outer * reduced * inner, outer * inner)
    return work.cheap and any(at_least(size, work.size) for size in group.sizes)
