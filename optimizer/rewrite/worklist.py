"""What the passes have still to look at: all nodes once, then the neighbourhood of what changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import onnx_ir as ir

from optimizer.model.graph import node_id, readers, use_count
from optimizer.registry import ANY, Pass, Rule
from optimizer.rewrite.applied import Applied
from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.edits import ImportOpset, Retype, SetAttributes, SetInput
from optimizer.rewrite.trace import PassTiming
from optimizer.rules import operator_of

FEW_USES = 8
"""Consumers of a value up to which each looks again when another consumer comes or goes. That
matters to a rule only where few are left; a constant may have hundreds."""

_CHANGES_OF_NODES = (SetInput, SetAttributes)


Interest = tuple[dict[ir.Node, list[Rule]], list[Rule]]
"""The nodes that one pass has still to look at, each with its rules, and those for an operator."""


def downstream(front: Sequence[ir.Node], deepest: int) -> Iterator[tuple[ir.Node, int]]:
    """Nodes, each once, and those that read what they make, down to a distance; they have 1."""
    seen = set(front)
    for distance in range(1, deepest + 1):
        following: list[ir.Node] = []
        for node in front:
            yield node, distance
            for output in node.outputs if distance < deepest else ():
                for reader in readers(output):
                    if reader not in seen:
                        seen.add(reader)
                        following.append(reader)
        front = following


class Queue:
    """The nodes one pass has still to look at, and its rules."""

    def __init__(self, planned: Pass) -> None:
        self.planned = planned
        self._by_operator: dict[str, list[Rule]] = {}
        self._dropped: set[str] = set()
        self.waiting: dict[ir.Node, list[Rule]] = {}
        self.rewrites = self.vetoed = self.tried = 0
        self.has_near_misses = False
        self.seconds = 0.0

    def rules_for(self, operator: str) -> list[Rule]:
        """The rules rooted at an operator; one list, which loses those that are dropped.

        Their functions take the pass first.
        """
        found = self._by_operator.get(operator)
        if found is None:
            found = self._by_operator[operator] = [
                declared
                for root in (operator, ANY)
                for declared in self.planned.marked
                if root in declared.roots and declared.name not in self._dropped
            ]
        return found

    def timing(self, *, declined: int) -> PassTiming:
        """What the pass has done until now."""
        return PassTiming(self.rewrites, declined, self.vetoed, self.tried, self.seconds)

    def drop(self, rule: Rule) -> None:
        """Ask this rule no more."""
        self._dropped.add(rule.name)
        for listed in self._by_operator.values():
            listed[:] = [declared for declared in listed if declared is not rule]


class Worklist:
    """The queues of all passes of a run."""

    def __init__(self, passes: Iterable[Pass], edited: EditedGraph) -> None:
        self.queues = [Queue(planned) for planned in passes]
        self._edited = edited
        self._deepest = max((queue.planned.reach for queue in self.queues), default=1)
        self._rooted: dict[str, list[Queue]] = {}  # those with rules rooted at an operator
        for queue in self.queues:
            for root in queue.planned.roots:
                self._rooted.setdefault(root, []).append(queue)
        self._interested: dict[tuple[str, int], list[Interest]] = {}
        self._near: dict[ir.Node, None] = {}
        self._order: dict[ir.Node, int] = {}  # of what was derived from a node, that node's
        self._kin: set[ir.Node] = set()  # what shares its place in that order with others
        by_operator: dict[str, list[ir.Node]] = {}
        for place, node in enumerate(edited.state.nodes.values()):
            self._order[node] = place
            by_operator.setdefault(operator_of(node), []).append(node)
        for operator, nodes in by_operator.items():
            for waiting, rules in self._lists(operator, 1):
                waiting.update(dict.fromkeys(nodes, rules))

    def has_work(self, queue: Queue) -> bool:
        """Whether a pass has something to look at, after all that has changed until now."""
        self._wake_downstream()
        return bool(queue.waiting)

    def nodes(self, queue: Queue) -> Iterator[tuple[ir.Node, list[Rule]]]:
        """What a pass has still to look at, and its rules for it.

        That is in document order; what is woken meanwhile comes last.
        """
        main = self._edited.state.model.graph
        while self.has_work(queue):
            batch = queue.waiting.copy()
            queue.waiting.clear()
            for node in self._in_order(batch):
                graph = node.graph
                if graph is main or (graph is not None and self._edited.holds(node)):
                    yield node, batch[node]

    def _in_order(self, nodes: Collection[ir.Node]) -> Iterable[ir.Node]:
        """Nodes in document order, what was derived from one and the same as it stands."""
        if len(nodes) < 2:
            return nodes
        kin = self._kin.intersection(nodes)
        if kin:
            others = [node for node in nodes if node not in kin]
            nodes = others + sorted(kin, key=self._standing)
        return sorted(nodes, key=self._order.__getitem__)

    def _standing(self, node: ir.Node) -> tuple[float, str]:
        return self._edited.position(node), node_id(node)

    def wake(self, applied: Applied, root: ir.Node, declined: Iterable[str]) -> None:
        """Have every pass look again wherever a change may matter to it.

        Args:
            applied: the change.
            root: the node it was made at.
            declined: ids of the roots of near misses.
        """
        near = self._near
        nodes, values = self._edited.state.nodes, self._edited.state.values
        for node in applied.added:
            near[node] = None
            origin = nodes[node_id(node).partition("~")[0]]
            self._order[node] = self._order[origin]
            self._kin.update((node, origin))
        near[root] = None
        for edit in applied.edits:
            if isinstance(edit, _CHANGES_OF_NODES):
                near[nodes[edit.node]] = None
            elif isinstance(edit, Retype):
                near.update(dict.fromkeys(use.node for use in values[edit.value].uses()))
            elif isinstance(edit, ImportOpset):  # the version may be what was in the way
                near.update((nodes[identity], None) for identity in declined)
        for value in applied.changed:
            producer = value.producer()
            if producer is not None and producer.graph is not None:
                self._push(producer, 1)  # it may care who reads its output
            if use_count(value) <= FEW_USES:
                near.update(dict.fromkeys(readers(value)))

    def _wake_downstream(self) -> None:
        """Patterns reach upstream from their root, so roots further down must look again.

        This is done once for all changes of a sweep: what they wake overlaps. An edge that was
        there at a change and is not any more went with another one, which is near its reader.
        """
        if not self._near:
            return
        front = [node for node in self._near if node.graph is not None]
        self._near.clear()
        for node, distance in downstream(front, self._deepest):
            self._push(node, distance)

    def _push(self, node: ir.Node, distance: int) -> None:
        """Have every pass look at a node that has rules for it and reaches that far."""
        for waiting, rules in self._lists(operator_of(node), distance):
            waiting[node] = rules

    def _lists(self, operator: str, distance: int) -> list[Interest]:
        """Of each pass that has rules for an operator and reaches that far."""
        key = operator, distance
        found = self._interested.get(key)
        if found is None:
            rooted = [*self._rooted.get(operator, ()), *self._rooted.get(ANY, ())]
            found = self._interested[key] = [
                (queue.waiting, queue.rules_for(operator))
                for queue in dict.fromkeys(rooted)
                if queue.planned.reach >= distance
            ]
        return found
