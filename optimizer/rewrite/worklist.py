"""What the passes have still to look at: all nodes once, then the neighbourhood of what changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx_ir as ir

from optimizer.model.graph import node_id, readers, use_count, walk_nodes
from optimizer.registry import ANY, Pass, Rule
from optimizer.rewrite.applied import Applied
from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.edits import ImportOpset, Retype, SetAttributes, SetInput
from optimizer.rewrite.trace import PassTiming

FEW_USES = 8
"""Consumers of a value up to which each looks again when another consumer comes or goes. That
matters to a rule only where few are left; a constant may have hundreds."""


class Queue:
    """The nodes one pass has still to look at, and its rules."""

    def __init__(self, planned: Pass) -> None:
        self.planned = planned
        self.rules: dict[str, list[Rule]] = {}
        for declared in planned.rules():
            for root in declared.roots:
                self.rules.setdefault(root, []).append(declared)
        everything = [declared for listed in self.rules.values() for declared in listed]
        self._by_operator: dict[str, list[Rule]] = {}
        self.reach = max((declared.reach for declared in everything), default=1)
        self.waiting: dict[ir.Node, None] = {}
        self.timing = PassTiming()
        self.tried = 0

    def rules_for(self, operator: str) -> list[Rule]:
        """The rules rooted at an operator."""
        found = self._by_operator.get(operator)
        if found is None:
            found = [*self.rules.get(operator, ()), *self.rules.get(ANY, ())]
            self._by_operator[operator] = found
        return found

    def drop(self, rule: Rule) -> None:
        """Ask this rule no more."""
        for listed in self.rules.values():
            listed[:] = [declared for declared in listed if declared is not rule]
        self._by_operator.clear()


class Worklist:
    """The queues of all passes of a run."""

    def __init__(self, passes: Iterable[Pass], edited: EditedGraph) -> None:
        self.queues = [Queue(planned) for planned in passes]
        self._edited = edited
        self._deepest = max((queue.reach for queue in self.queues), default=1)
        self._interested: dict[tuple[str, int], list[dict[ir.Node, None]]] = {}
        self._order: dict[str, int] = {}
        for node in walk_nodes(edited.state.model.graph):
            self._order[node_id(node)] = len(self._order)
            self._push(node, 1)

    def nodes(self, queue: Queue) -> Iterator[ir.Node]:
        """What a pass has still to look at, in document order; what is woken meanwhile, last."""
        while queue.waiting:
            batch = [self._placed(node) for node in queue.waiting if self._edited.holds(node)]
            queue.waiting.clear()
            batch.sort()  # nearly so already, which takes linear time
            for *_, node in batch:
                if self._edited.holds(node):
                    yield node

    def wake(self, applied: Applied, root: ir.Node, declined: Iterable[str]) -> None:
        """Have every pass look again wherever a change may matter to it.

        Args:
            applied: the change.
            root: the node it was made at.
            declined: ids of the roots of near misses.
        """
        near: dict[ir.Node, None] = dict.fromkeys(applied.added)
        near[root] = None
        nodes, values = self._edited.state.nodes, self._edited.state.values
        for edit in applied.edits:
            if isinstance(edit, SetInput | SetAttributes):
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
        front = [node for node in near if node.graph is not None]
        for node in front:
            self._push(node, 1)
        self._wake_downstream(front)

    def _wake_downstream(self, front: list[ir.Node]) -> None:
        """Patterns reach upstream from their root, so roots further down must look again."""
        seen = set(front)
        for distance in range(2, self._deepest + 1):
            following: list[ir.Node] = []
            for node in front:
                for output in node.outputs:
                    for reader in readers(output):
                        if reader not in seen:
                            seen.add(reader)
                            following.append(reader)
                            self._push(reader, distance)
            front = following

    def _push(self, node: ir.Node, distance: int) -> None:
        """Have every pass look at a node that has rules for it and reaches that far."""
        key = operator_of(node), distance
        lists = self._interested.get(key)
        if lists is None:
            lists = self._interested[key] = [
                q.waiting for q in self.queues if q.reach >= distance and q.rules_for(key[0])
            ]
        for waiting in lists:
            waiting[node] = None

    def _placed(self, node: ir.Node) -> tuple[int, float, str, ir.Node]:
        """A node behind its document order: the source node's place, the position in the list."""
        identity = node_id(node)
        place = self._order.get(identity)
        if place is None:
            place = self._order[identity] = self._order[identity.partition("~")[0]]
        return place, self._edited.positions[identity], identity, node


def operator_of(node: ir.Node) -> str:
    """The operator as rules name it."""
    domain = node.domain
    return f"{domain}::{node.op_type}" if domain else node.op_type
