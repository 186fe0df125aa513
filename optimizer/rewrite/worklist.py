"""What the passes have still to look at: all nodes once, then the neighbourhood of what changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
        self._bound: dict[str, Rule] = {}
        self._dropped: set[str] = set()
        self.waiting: dict[ir.Node, list[Rule]] = {}
        self.rewrites = self.vetoed = self.tried = 0
        self.has_near_misses = False
        self.seconds = 0.0

    def rules_for(self, operator: str) -> list[Rule]:
        """The rules rooted at an operator; one list, which loses those that are dropped."""
        found = self._by_operator.get(operator)
        if found is None:
            marked = self.planned.marked  # few of a pass's rules are for operators that are there
            wanted = [one for root in (operator, ANY) for one in marked if root in one.roots]
            found = [self._rule(one) for one in wanted if one.name not in self._dropped]
            self._by_operator[operator] = found
        return found

    def _rule(self, declared: Rule) -> Rule:
        if declared.name not in self._bound:
            self._bound[declared.name] = declared.of(self.planned)
        return self._bound[declared.name]

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
        self._interested: dict[tuple[str, int], list[Interest]] = {}
        self._near: dict[ir.Node, None] = {}
        self._order: dict[str, int] = {}
        by_operator: dict[str, list[ir.Node]] = {}
        for place, (identity, node) in enumerate(edited.state.nodes.items()):
            self._order[identity] = place
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
        order, positions = self._order, self._edited.positions
        while self.has_work(queue):
            batch = [
                (order[identity := node_id(node)], positions[identity], identity, node, rules)
                for node, rules in queue.waiting.items()
                if node.graph is not None
            ]
            queue.waiting.clear()
            batch.sort()
            for _, _, _, node, rules in batch:
                if node.graph is main or self._edited.holds(node):
                    yield node, rules

    def wake(self, applied: Applied, root: ir.Node, declined: Iterable[str]) -> None:
        """Have every pass look again wherever a change may matter to it.

        Args:
            applied: the change.
            root: the node it was made at.
            declined: ids of the roots of near misses.
        """
        near = self._near
        for node in applied.added:
            near[node] = None
            self._order[node_id(node)] = self._order[node_id(node).partition("~")[0]]
        near[root] = None
        nodes, values = self._edited.state.nodes, self._edited.state.values
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
            queues = self._rooted.get(operator)
            if queues is None:
                wanted = {operator, ANY}
                queues = [one for one in self.queues if not wanted.isdisjoint(one.planned.roots)]
                self._rooted[operator] = queues
            found = self._interested[key] = [
                (queue.waiting, queue.rules_for(operator))
                for queue in queues
                if queue.planned.reach >= distance
            ]
        return found
