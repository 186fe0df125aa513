"""A graph that is being rewritten: its objects by id, their order, and names that are taken.

New nodes stand right before their root, and so do those that have to wait for them; all others stay
where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any, cast

import onnx_ir as ir

from optimizer.model.graph import graph_id, node_id
from optimizer.model.refinement import Refinement
from optimizer.model.symbolic import SymbolicValues
from optimizer.rewrite.graph_state import GraphState
from optimizer.stored import NewWeights


class EditedGraph:
    """Keeps one model's ids, names and order straight while it changes.

    Attributes:
        state: its objects by id.
        new_weights: where new tensors are kept.
        positions: where nodes stand in their graph's list, by id; comparable within one graph only.
    """

    def __init__(self, model: ir.Model, *, symbolic: SymbolicValues | None = None) -> None:
        self.state = GraphState(model)
        self._main = model.graph
        self.new_weights = NewWeights()
        self._symbolic = symbolic
        self._derived: dict[str, int] = {}
        self._generations: dict[str, int] = {}
        self._names = {value.name for value in self.state.values.values() if value.name}
        self._node_names = {node.name for node in self.state.nodes.values() if node.name}
        self.positions: dict[str, float] = {}
        for graph in self.state.graphs.values():
            self.renumber(graph)

    def position(self, node: ir.Node) -> float:
        """Where a node stands in its graph's list; comparable within one graph only."""
        return self.positions[node_id(node)]

    def precedes(self, first: ir.Node, second: ir.Node) -> bool:
        """Whether outputs of `first` are computed before `second` and visible to it."""
        around = self.around(second, first.graph)
        return around is not None and self.position(first) < self.position(around)

    def around(self, node: ir.Node, graph: ir.Graph | ir.Function | None) -> ir.Node | None:
        """The node of `graph` that is `node` or carries it in a body, however deep."""
        current: ir.Node | None = node
        while current is not None and current.graph is not graph:
            home = current.graph
            current = self.state.owners.get(graph_id(home)) if isinstance(home, ir.Graph) else None
        return current

    def holds(self, node: ir.Node) -> bool:
        """Whether a node is in the model: neither it nor a node that carries it went away."""
        return node.graph is self._main or self.around(node, self._main) is not None

    def generation(self, node: ir.Node) -> int:
        """How many rewrites lie between a source node and this one, each rooted at its maker."""
        return self._generations.get(node_id(node), 0)

    def fresh_id(self, root: ir.Node) -> str:
        """An id for a node derived from `root`."""
        stem = _stem(node_id(root))
        number = self._derived[stem] = self._derived.get(stem, 0) + 1
        self._generations[f"{stem}~{number}"] = self.generation(root) + 1
        return f"{stem}~{number}"

    def fresh_name(self, base: str) -> str:
        """A value name that was never used in this model; from now on it is."""
        name = _unused(base, self._names, frozenset())
        self._names.add(name)
        return name

    def fresh_node_name(self, base: str, *, leaving: Set[str]) -> str:
        """A node name that is free once the nodes named `leaving` are gone."""
        name = _unused(base, self._node_names, leaving)
        self._node_names.add(name)
        return name

    def refinements(self, node: ir.Node) -> Iterable[Refinement]:
        """What is known about the outputs of `node` beyond what is written down."""
        return self._symbolic.refine(node) if self._symbolic is not None else ()

    def follow_opset(self, made: Iterable[ir.Node]) -> None:
        """Go by the operators that the model has now, also for nodes that were made before."""
        if self._symbolic is None:
            return
        self._symbolic.opset = self.state.model.opset_imports.get("", self._symbolic.opset)
        for value in (value for node in made for value in node.outputs):
            self._symbolic.forget(value)

    def contradiction(self, value: ir.Value) -> str:
        """How what is declared of a value cannot be; nothing while the model's opset moves."""
        if self._symbolic is None or self.state.model.opset_imports.get("") != self._symbolic.opset:
            return ""
        self._symbolic.fact(value)
        return self._symbolic.contradictions.get(value, "")

    def are_alike(self, one: ir.Value | None, other: ir.Value | None) -> bool:
        """Whether no more is known of what reads one value where it reads the other."""
        if self._symbolic is None or one is None or other is None:
            return self._symbolic is None or one is other
        return self._symbolic.are_alike(one, other)

    def place(self, identities: Sequence[str], root: ir.Node) -> None:
        """Give nodes that come there positions between `root` and the node before it."""
        graph = root.graph
        assert isinstance(graph, ir.Graph)
        if not identities:
            return
        low, high = self._gap(graph, root)
        if high - low < 1e-6:
            self.renumber(graph)
            low, high = self._gap(graph, root)
        for number, identity in enumerate(identities, start=1):
            self.positions[identity] = low + (high - low) * number / (len(identities) + 1)

    def follower(self, node: ir.Node) -> ir.Node | None:
        """The node after `node` in its graph's list, in constant time."""
        assert isinstance(node.graph, ir.Graph)
        return _link(node.graph, node).next.value

    def _gap(self, graph: ir.Graph, root: ir.Node) -> tuple[float, float]:
        here, before = self.position(root), _link(graph, root).prev.value
        return (self.position(before) if before is not None else here - 1.0), here

    def renumber(self, graph: ir.Graph) -> None:
        """Give all nodes of a graph the positions that they have in its list."""
        self.positions.update((node_id(node), float(i)) for i, node in enumerate(graph))


def _link(graph: ir.Graph, node: ir.Node) -> Any:
    """The link of a node in onnx_ir's private list; the public ways to its neighbours are O(n)."""
    return cast("Any", graph)._nodes._value_ids_to_boxes[id(node)]


def _stem(identity: str) -> str:
    return identity.partition("~")[0]


def _unused(base: str, taken: Set[str], free: Set[str]) -> str:
    name, number = base, 0
    while name in taken and name not in free:
        number += 1
        name = f"{base}~{number}"
    return name
