"""The nodes between a node and those above it that a pass would undo it with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.rules import Context, NewNode, Operand

LARGEST = 64
"""Nodes that a region may have: more are rare, and every question about them costs time."""

Movable = Callable[[ir.Node], bool]


def region_above(root: ir.Node, movable: Movable, *, largest: int = LARGEST) -> list[ir.Node]:
    """Nodes upstream of the first input of a node that nothing else needs.

    Args:
        root: the node.
        movable: whether a node may belong to the region.
        largest: how many nodes are looked at.

    Returns:
        Nodes of the same graph, consumers first; all their outputs are read by each other and by
        the root alone, and are no outputs of the graph.
    """
    return _region(root, [root.inputs[0]], movable, largest)


def region_of(root: ir.Node, movable: Movable, *, largest: int = LARGEST) -> list[ir.Node]:
    """A node, and nodes upstream of all its inputs that nothing else needs, as `region_above`."""
    return [root, *_region(root, [*root.inputs], movable, largest)]


def _region(
    root: ir.Node, entries: list[ir.Value | None], movable: Movable, largest: int
) -> list[ir.Node]:
    found: dict[ir.Node, None] = {}
    pending = [*entries]
    while pending and len(found) < largest:
        value = pending.pop()
        node = None if value is None else value.producer()
        if node is None or node in found or node.graph is not root.graph or not movable(node):
            continue
        found[node] = None
        pending += node.inputs
    while escaping := [node for node in found if _escapes(node, root, len(entries), found)]:
        for node in escaping:
            del found[node]
    return _reachable(entries, found)


def _escapes(node: ir.Node, root: ir.Node, entries: int, region: dict[ir.Node, None]) -> bool:
    return any(
        value.is_graph_output()
        or any(
            use.node not in region and not (use.node is root and use.idx < entries)
            for use in value.uses()
        )
        for value in node.outputs
    )


def _reachable(entries: list[ir.Value | None], region: dict[ir.Node, None]) -> list[ir.Node]:
    """What is still connected to the root, consumers first."""
    order: dict[ir.Node, None] = {}
    pending = [*entries]
    while pending:
        value = pending.pop(0)
        node = None if value is None else value.producer()
        if node is not None and node in region and node not in order:
            order[node] = None
            pending += node.inputs
    return [*order]


@dataclass(slots=True, kw_only=True)
class Carried(ABC):
    """A region made anew where its values have another form; each value once.

    Attributes:
        context: of the rule.
        region: the nodes.
        made: what is made in their place, producers first.
    """

    context: Context
    region: set[ir.Node]
    made: list[NewNode] = field(default_factory=list[NewNode])
    known: dict[ir.Value, Operand | None] = field(default_factory=dict[ir.Value, "Operand | None"])

    def above(self, value: ir.Value | None) -> Operand | None:
        """A value in the new form; None where that cannot be said."""
        if value is None:
            return None
        if value not in self.known:
            self.known[value] = self._above(value)
        return self.known[value]

    def _above(self, value: ir.Value) -> Operand | None:
        node = value.producer()
        if node is None or node not in self.region:
            return self.entering(value)
        data = [self.above(operand) for operand in node.inputs[: self.data_inputs(node)]]
        if any(operand is None for operand in data):
            return None
        self.made.append(self.anew(node, data))
        return self.made[-1].output()

    @abstractmethod
    def data_inputs(self, node: ir.Node) -> int:
        """How many inputs of a node have the form of its output."""

    @abstractmethod
    def anew(self, node: ir.Node, data: list[Operand | None]) -> NewNode:
        """A node of the region on data in the new form."""

    @abstractmethod
    def entering(self, value: ir.Value) -> Operand | None:
        """A value from outside the region in the new form."""


def read_by_alone(value: ir.Value, node: ir.Node) -> bool:
    """Whether a node alone reads a value."""
    return not value.is_graph_output() and all(use.node is node for use in value.uses())
