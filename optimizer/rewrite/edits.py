"""The primitive, invertible changes every rewrite is made of.

An edit names nodes and values by id, so that it means the same on every copy of the source graph
and can be written to a file. `GraphState` finds the objects behind the ids, applies and reverts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

import onnx_ir as ir

from optimizer.model.graph import ID, bodies, graph_id, value_id, walk_graphs, walk_nodes


@dataclass(frozen=True, slots=True)
class ValueSpec:
    """A value to create: id, ONNX name, and what is known of its type."""

    id: str
    name: str
    type: ir.TypeProtocol | None
    shape: ir.Shape | None


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node to create; inputs are value ids, None where an optional input is missing."""

    id: str
    domain: str
    op_type: str
    name: str
    inputs: tuple[str | None, ...]
    outputs: tuple[ValueSpec, ...]
    attributes: tuple[ir.Attr, ...]


@dataclass(frozen=True, slots=True)
class InsertNode:
    """Put a new node into a graph, right before the live node `before`."""

    graph: str
    node: NodeSpec
    before: str


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """Take a node out; `before` is the live node that followed it, None at the end of the list."""

    graph: str
    node: str
    before: str | None
    inputs: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class SetInput:
    """Let input `index` of a node read another value."""

    node: str
    index: int
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class SetGraphOutput:
    """Let graph output `index` be another value."""

    graph: str
    index: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class AddInitializer:
    """Add a constant to a graph."""

    graph: str
    value: str
    name: str
    tensor: ir.TensorProtocol


@dataclass(frozen=True, slots=True)
class DropInitializer:
    """Remove an unused constant from a graph."""

    graph: str
    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Rename:
    """Change the ONNX name of a value."""

    value: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Retype:
    """Write down what has become known about a value's type and shape."""

    value: str
    old: tuple[ir.TypeProtocol | None, ir.Shape | None]
    new: tuple[ir.TypeProtocol | None, ir.Shape | None]


@dataclass(frozen=True, slots=True)
class SetAttributes:
    """Change the attributes of a node that stays."""

    node: str
    old: tuple[ir.Attr, ...]
    new: tuple[ir.Attr, ...]


@dataclass(frozen=True, slots=True)
class ImportOpset:
    """Declare an operator set, or another version of it; `old` is None where there was none."""

    domain: str
    version: int
    old: int | None = None


Edit = (
    InsertNode
    | RemoveNode
    | SetInput
    | SetGraphOutput
    | AddInitializer
    | DropInitializer
    | Rename
    | Retype
    | SetAttributes
    | ImportOpset
)


class GraphState:
    """A model's objects by id, removed ones included, so that edits can be applied and reverted."""

    def __init__(self, model: ir.Model) -> None:
        self.model = model
        self.graphs = {graph_id(graph): graph for graph in walk_graphs(model.graph)}
        self.owners = {
            graph_id(body): node for node in walk_nodes(model.graph) for body in bodies(node)
        }
        self.nodes: dict[str, ir.Node] = {}
        self.values: dict[str, ir.Value] = {}
        self._inner_inputs: dict[str, Sequence[ir.Value | None]] = {}
        for graph in self.graphs.values():
            self._remember([*graph.inputs, *graph.initializers.values()])
        for node in walk_nodes(model.graph):
            self.nodes[node.meta[ID]] = node
            self._remember(node.outputs)

    def _remember(self, values: Iterable[ir.Value]) -> None:
        for value in values:
            self.values[value_id(value)] = value

    def scopes(self, graph: ir.Graph) -> Iterator[ir.Graph]:
        """`graph` and the graphs around it, inside out."""
        current: ir.Graph | ir.Function | None = graph
        while isinstance(current, ir.Graph):
            yield current
            owner = self.owners.get(graph_id(current))
            current = owner.graph if owner is not None else None

    def value(self, identity: str | None) -> ir.Value | None:
        """The value with this id; None stands for a missing optional input."""
        return None if identity is None else self.values[identity]

    def apply(self, edit: Edit) -> None:
        """Carry out one edit."""
        match edit:
            case InsertNode():
                self._insert(edit)
            case RemoveNode():
                self._take_out(edit.graph, edit.node)
            case SetInput():
                self.nodes[edit.node].replace_input_with(edit.index, self.value(edit.new))
            case SetGraphOutput():
                self.graphs[edit.graph].outputs[edit.index] = self.values[edit.new]
            case AddInitializer():
                self._add_initializer(edit)
            case DropInitializer():
                del self.graphs[edit.graph].initializers[edit.name]
            case Rename():
                self.values[edit.value].name = edit.new
            case Retype():
                self._retype(edit.value, edit.new)
            case SetAttributes():
                self._set_attributes(edit.node, edit.new)
            case ImportOpset():
                self.model.graph.opset_imports[edit.domain] = edit.version
            case _:
                assert_never(edit)

    def revert(self, edit: Edit) -> None:
        """Carry out the exact inverse of `apply`."""
        match edit:
            case InsertNode():
                self._take_out(edit.graph, edit.node.id)
            case RemoveNode():
                self._put_back(edit)
            case SetInput():
                self.nodes[edit.node].replace_input_with(edit.index, self.value(edit.old))
            case SetGraphOutput():
                self.graphs[edit.graph].outputs[edit.index] = self.values[edit.old]
            case AddInitializer():
                del self.graphs[edit.graph].initializers[edit.name]
            case DropInitializer():
                self.graphs[edit.graph].initializers[edit.name] = self.values[edit.value]
            case Rename():
                self.values[edit.value].name = edit.old
            case Retype():
                self._retype(edit.value, edit.old)
            case SetAttributes():
                self._set_attributes(edit.node, edit.old)
            case ImportOpset(old=None):
                del self.model.graph.opset_imports[edit.domain]
            case ImportOpset():
                self.model.graph.opset_imports[edit.domain] = edit.old
            case _:
                assert_never(edit)

    def _insert(self, edit: InsertNode) -> None:
        spec = edit.node
        node = self.nodes.get(spec.id)
        if node is None:
            node = self._create(spec)
        else:  # it was here before an undo
            for index, identity in enumerate(spec.inputs):
                node.replace_input_with(index, self.value(identity))
        self.graphs[edit.graph].insert_before(self.nodes[edit.before], node)

    def _create(self, spec: NodeSpec) -> ir.Node:
        outputs = [ir.Value(name=o.name, type=o.type, shape=o.shape) for o in spec.outputs]
        node = ir.Node(
            spec.domain,
            spec.op_type,
            [self.value(identity) for identity in spec.inputs],
            spec.attributes,
            outputs=outputs,
            name=spec.name,
        )
        node.meta[ID] = spec.id
        for value, output in zip(node.outputs, spec.outputs, strict=True):
            value.meta[ID] = output.id
        self.nodes[spec.id] = node
        self._remember(node.outputs)
        return node

    def _take_out(self, graph: str, identity: str) -> None:
        node = self.nodes[identity]
        for inner in _nodes_of_bodies(node):
            self._inner_inputs[inner.meta[ID]] = inner.inputs
            _detach(inner)
        _detach(node)
        self.graphs[graph].remove(node)

    def _put_back(self, edit: RemoveNode) -> None:
        node, graph = self.nodes[edit.node], self.graphs[edit.graph]
        for index, identity in enumerate(edit.inputs):
            node.replace_input_with(index, self.value(identity))
        for inner in _nodes_of_bodies(node):
            for index, value in enumerate(self._inner_inputs[inner.meta[ID]]):
                inner.replace_input_with(index, value)
        if edit.before is None:
            graph.append(node)
        else:
            graph.insert_before(self.nodes[edit.before], node)

    def _add_initializer(self, edit: AddInitializer) -> None:
        value = self.values.get(edit.value)
        if value is None:
            tensor = edit.tensor
            value = ir.Value(
                name=edit.name,
                type=ir.TensorType(tensor.dtype),
                shape=ir.Shape(tensor.shape),
                const_value=tensor,
            )
            value.meta[ID] = edit.value
            self._remember([value])
        self.graphs[edit.graph].initializers[edit.name] = value

    def _retype(self, identity: str, known: tuple[ir.TypeProtocol | None, ir.Shape | None]) -> None:
        value = self.values[identity]
        value.type, value.shape = known

    def _set_attributes(self, identity: str, attributes: tuple[ir.Attr, ...]) -> None:
        node = self.nodes[identity]
        node.attributes.clear()
        for attribute in attributes:
            node.attributes[attribute.name] = attribute


def _nodes_of_bodies(node: ir.Node) -> Iterator[ir.Node]:
    """Nodes inside a node's bodies: they hold on to outer values even when their owner is gone."""
    for body in bodies(node):
        yield from walk_nodes(body)


def _detach(node: ir.Node) -> None:
    for index in range(len(node.inputs)):
        node.replace_input_with(index, None)
