"""A model's objects by the ids that edits use, and the edits carried out on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import onnx_ir as ir

from optimizer.model.graph import ID, bodies, graph_id, node_id, value_id, walk_nodes
from optimizer.model.known_values import discard
from optimizer.rewrite import edits
from optimizer.rewrite.edits import Edit


class GraphState:
    """A model's objects by id, removed ones included, so that edits can be applied and reverted."""

    def __init__(self, model: ir.Model) -> None:
        discard(model)
        self.model = model
        self.graphs = {graph_id(model.graph): model.graph}
        self.owners: dict[str, ir.Node] = {}
        self.nodes: dict[str, ir.Node] = {}
        self.values: dict[str, ir.Value] = {}
        self._inner_inputs: dict[str, Sequence[ir.Value | None]] = {}
        for node in walk_nodes(model.graph):
            self.nodes[node_id(node)] = node
            self._remember(node.outputs)
            for body in bodies(node):
                self.graphs[graph_id(body)], self.owners[graph_id(body)] = body, node
        for graph in self.graphs.values():
            self._remember([*graph.inputs, *graph.initializers.values()])

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
        self._turn(edit, forward=True)

    def revert(self, edit: Edit) -> None:
        """Carry out the exact inverse of `apply`."""
        self._turn(edit, forward=False)

    def forget(self, reverted: Iterable[Edit]) -> None:
        """Drop what reverted edits had made, as if it had never been."""
        for edit in reverted:
            if isinstance(edit, edits.InsertNode):
                node = self.nodes.pop(edit.id)
                entering = [value for body in bodies(node) for value in body.inputs]
                for value in (*node.outputs, *entering):
                    del self.values[value_id(value)]
                for body in edit.bodies:
                    del self.graphs[body.graph], self.owners[body.graph]
            elif isinstance(edit, edits.AddInitializer):
                del self.values[edit.value]

    def _turn(self, edit: Edit, *, forward: bool) -> None:
        match edit:
            case edits.InsertNode():
                self._insert(edit) if forward else self._take_out(edit.graph, edit.id)
            case edits.RemoveNode():
                self._take_out(edit.graph, edit.node) if forward else self._put_back(edit)
            case edits.MoveNode():
                self._stand(edit.graph, edit.node, edit.before if forward else edit.follower)
            case edits.AddInitializer() | edits.DropInitializer():
                initializers = self.graphs[edit.graph].initializers
                if forward != isinstance(edit, edits.AddInitializer):
                    del initializers[edit.name]
                else:
                    initializers[edit.name] = self._initializer(edit)
            case edits.AddFunction() | edits.DropFunction():
                identifier = edit.function.identifier()
                if forward == isinstance(edit, edits.AddFunction):
                    self.model.functions[identifier] = edit.function
                else:
                    del self.model.functions[identifier]
            case edits.ImportOpset():
                imports = self.model.graph.opset_imports
                if (version := edit.version if forward else edit.old) is None:
                    del imports[edit.domain]
                else:
                    imports[edit.domain] = version
            case _:
                self._set(edit, forward=forward)

    def _set(self, edit: Edit, *, forward: bool) -> None:
        """What has an old and a new state."""
        match edit:
            case edits.SetInput():
                value = self.value(edit.new if forward else edit.old)
                self.nodes[edit.node].replace_input_with(edit.index, value)
            case edits.SetGraphOutput():
                outputs = self.graphs[edit.graph].outputs
                if edit.old is None:
                    outputs.append(self.values[edit.new]) if forward else outputs.pop()
                else:
                    outputs[edit.index] = self.values[edit.new if forward else edit.old]
            case edits.DropInput():
                inputs, value = self.graphs[edit.graph].inputs, self.values[edit.value]
                inputs.pop(edit.index) if forward else inputs.insert(edit.index, value)
            case edits.Rename():
                self.values[edit.value].name = edit.new if forward else edit.old
            case edits.Retype():
                value = self.values[edit.value]
                value.type, value.shape = edit.new if forward else edit.old
            case edits.SetAttributes():
                attributes = self.nodes[edit.node].attributes
                attributes.clear()
                attributes.update({a.name: a for a in (edit.new if forward else edit.old)})
            case _:
                raise TypeError(f"{type(edit).__name__} is no edit")

    def _insert(self, edit: edits.InsertNode) -> None:
        if edit.id not in self.nodes:
            self._create(edit)
        else:  # it was here before an undo
            self._read(self.nodes[edit.id], edit.inputs)
        self._stand(edit.graph, edit.id, edit.before)

    def _read(self, node: ir.Node, inputs: Iterable[str | None]) -> None:
        for index, identity in enumerate(inputs):
            node.replace_input_with(index, self.value(identity))

    def _create(self, spec: edits.InsertNode) -> None:
        inner = [self._empty(body) for body in spec.bodies]
        carried = [
            ir.AttrGraph(body.attribute, graph)
            for body, graph in zip(spec.bodies, inner, strict=True)
        ]
        node = ir.Node(
            spec.domain,
            spec.op_type,
            [self.value(identity) for identity in spec.inputs],
            [*spec.attributes, *carried],
            outputs=[_value(output) for output in spec.outputs],
            name=spec.name,
        )
        node.meta[ID] = spec.id
        self.nodes[spec.id] = node
        self._remember(node.outputs)
        self.owners.update({graph_id(graph): node for graph in inner})

    def _empty(self, spec: edits.EmptyBody) -> ir.Graph:
        """A body with inputs and nothing else."""
        graph = ir.Graph([_value(entry) for entry in spec.inputs], (), nodes=(), name=spec.name)
        graph.meta[ID] = spec.graph
        self.graphs[spec.graph] = graph
        self._remember(graph.inputs)
        return graph

    def _take_out(self, graph: str, identity: str) -> None:
        node = self.nodes[identity]
        for inner in _nodes_of_bodies(node):
            self._inner_inputs[inner.meta[ID]] = inner.inputs
            _detach(inner)
        _detach(node)
        nodes: Any = self.graphs[graph]
        node.graph = None  # as `Graph.remove` does for many, with checks that take twice as long
        nodes._nodes.remove(node)

    def _put_back(self, edit: edits.RemoveNode) -> None:
        node = self.nodes[edit.node]
        self._read(node, edit.inputs)
        for inner in _nodes_of_bodies(node):
            for index, value in enumerate(self._inner_inputs[inner.meta[ID]]):
                inner.replace_input_with(index, value)
        self._stand(edit.graph, edit.node, edit.before)

    def _stand(self, graph: str, node: str, before: str | None) -> None:
        """Put a node right before another one, or at the end."""
        if before is None:
            self.graphs[graph].append(self.nodes[node])
        else:
            self.graphs[graph].insert_before(self.nodes[before], self.nodes[node])

    def _initializer(self, edit: edits.AddInitializer | edits.DropInitializer) -> ir.Value:
        if edit.value not in self.values and isinstance(edit, edits.AddInitializer):
            tensor = edit.tensor
            value = ir.Value(
                name=edit.name,
                type=ir.TensorType(tensor.dtype),
                shape=ir.Shape(tensor.shape.numpy()),
                const_value=tensor,
            )
            value.meta[ID] = edit.value
            self._remember([value])
        return self.values[edit.value]


def _value(spec: edits.ValueSpec) -> ir.Value:
    value = ir.Value(name=spec.name, type=spec.type.type, shape=spec.type.shape)
    value.meta[ID] = spec.id
    return value


def _nodes_of_bodies(node: ir.Node) -> Iterator[ir.Node]:
    """Nodes inside a node's bodies: they hold on to outer values even when their owner is gone."""
    for body in bodies(node):
        yield from walk_nodes(body)


def _detach(node: ir.Node) -> None:
    for index in range(len(node.inputs)):
        node.replace_input_with(index, None)
