"""One replacement on its way into the graph, as primitive edits that are applied one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.model.graph import (
    bodies,
    graph_id,
    is_used,
    node_id,
    readers,
    value_id,
    walk_nodes,
)
from optimizer.model.refinement import Refinement
from optimizer.rewrite import edits
from optimizer.rewrite.applied import Applied
from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.edits import Edit
from optimizer.rewrite.ordering import puts
from optimizer.rewrite.own_opsets import OPSET_VERSIONS
from optimizer.rewrite.refusal import Refused
from optimizer.rewrite.vetoes import leaving_nodes
from optimizer.rewrite.waiting import waiting_nodes
from optimizer.rules.replacement import (
    NewBody,
    NewInitializer,
    NewNode,
    NewOutput,
    Operand,
    Replacement,
    as_attributes,
)


class Application:
    """One replacement on its way into the graph; it has passed the checks."""

    def __init__(self, edited: EditedGraph, root: ir.Node, proposal: Replacement) -> None:
        self.edited, self.state = edited, edited.state
        self.root, self.proposal = root, proposal
        assert isinstance(root.graph, ir.Graph)
        self.graph = root.graph
        self.leaving = leaving_nodes(proposal, edited.position)
        self.free_names = {node.name for node in self.leaving if node.name}
        self.done = Applied()
        self.created: dict[NewOutput | NewInitializer, ir.Value] = {}
        self.outputs: dict[NewNode, tuple[ir.Value, ...]] = {}
        self.rewired: dict[ir.Node, None] = {}
        self.entering: dict[ir.Value, ir.Value] = {}
        self.named = {node.op_type: node for node in reversed(proposal.matched) if node.name}
        self.heirs: dict[NewNode, dict[int, ir.Value]] = {}
        for old, operand in proposal.values.items():
            if isinstance(operand, NewOutput):
                self.heirs.setdefault(operand.node, {})[operand.index] = old

    def run(self) -> Applied:
        """Carry it out."""
        old_inputs = [v for n in self.proposal.matched for v in n.inputs if v is not None]
        self._declare()
        self._change_types()
        self._fix_inputs()
        self._insert_nodes()
        self.check_sizes()
        self._change_nodes()
        for old, operand in self.proposal.values.items():
            self._replace(old, self._resolve(operand))
        self._remove_unused()
        for function in self.proposal.unused:
            self._edit(edits.DropFunction(function))
        self._drop_initializers(old_inputs)
        self._settle_names()
        self._refine()
        for value in old_inputs:
            self.done.changed[value] = None
        return self.done

    def _edit(self, edit: Edit) -> None:
        self.state.apply(edit)
        self.done.edits.append(edit)

    def _declare(self) -> None:
        """Operator sets and functions that new nodes are of."""
        imported = self.state.model.graph.opset_imports
        known = {*imported, *self.proposal.opsets}
        for domain in sorted({node.domain for node in self.proposal.nodes} - known):
            self._edit(edits.ImportOpset(domain, OPSET_VERSIONS[domain]))
        for domain, version in self.proposal.opsets.items():
            self._edit(edits.ImportOpset(domain, version, imported.get(domain)))
        for function in self.proposal.functions:
            if function.identifier() not in self.state.model.functions:
                self._edit(edits.AddFunction(function))

    def _change_types(self) -> None:
        for value, dtype in self.proposal.types.items():
            known = edits.Known(value.type, value.shape)
            new = edits.Known(ir.TensorType(dtype), value.shape)
            self._edit(edits.Retype(value_id(value), known, new))
            self.done.changed[value] = None

    def _fix_inputs(self) -> None:
        if not self.proposal.fixed:
            return
        graph = self.state.model.graph
        places = {value: index for index, value in enumerate(graph.inputs)}
        for value in sorted(self.proposal.fixed, key=places.__getitem__, reverse=True):
            self._edit(edits.DropInput(graph_id(graph), value_id(value), places[value]))
            self.done.changed[value] = None

    def _insert_nodes(self) -> None:
        for new in self.proposal.nodes:
            self.done.identities[new] = self.edited.fresh_id(self.root)
        if self.proposal.order:
            self._put_in_order()
            return
        waiting = waiting_nodes(self.edited, self.root, self.proposal)
        stands = self.proposal.stands
        for before, group in groupby(self.proposal.nodes, lambda new: stands.get(new, self.root)):
            made = [*group]
            self.edited.place([self.done.identities[new] for new in made], before)
            for new in made:
                self._insert(new, before)
        self.edited.place([*map(node_id, waiting)], self.root)
        for node in waiting:
            self._move(node, self.root)

    def _put_in_order(self) -> None:
        """New nodes where the proposal says, and those that stay, too."""
        for put in puts(self.graph, self.proposal):
            before = self._standing(put.before)
            if isinstance(put.item, NewNode):
                self._insert(put.item, before)
            else:
                self._move(put.item, before)
            if put.swaps:
                self._move(before, self._standing(put.item))
        self.edited.renumber(self.graph)

    def _standing(self, item: ir.Node | NewNode) -> ir.Node:
        if isinstance(item, NewNode):
            return self.state.nodes[self.done.identities[item]]
        return item

    def _insert(self, new: NewNode, before: ir.Node) -> None:
        self._edit(self._insertion(new, self.graph, before))
        self._note(new)

    def _note(self, new: NewNode) -> None:
        """Remember a node that is in, and put in what its bodies hold."""
        node = self.state.nodes[self.done.identities[new]]
        self.outputs[new] = tuple(node.outputs)
        self.done.added.append(node)
        for name, body in new.bodies.items():
            self._fill(node.attributes[name].as_graph(), body)

    def _fill(self, graph: ir.Graph, body: NewBody) -> None:
        """Put nodes and outputs into a body that has its inputs."""
        self.entering.update(zip(body.inputs, graph.inputs, strict=True))
        for constant in body.initializers:
            self._add_initializer(constant, graph)
        for new in body.nodes:
            self.done.identities[new] = self.edited.fresh_id(self.root)
            self._edit(self._insertion(new, graph, None))
            self._note(new)
        for index, operand in enumerate(body.outputs):
            value = value_id(self._resolve(operand))
            self._edit(edits.SetGraphOutput(graph_id(graph), index, None, value))
        self.edited.renumber(graph)

    def _move(self, node: ir.Node, before: ir.Node) -> None:
        """Put a node right before another one."""
        follower = self.edited.follower(node)
        self._edit(
            edits.MoveNode(
                graph_id(self.graph),
                node_id(node),
                node_id(before),
                None if follower is None else node_id(follower),
            )
        )

    def _insertion(self, new: NewNode, graph: ir.Graph, before: ir.Node | None) -> edits.InsertNode:
        inputs = tuple(
            None if operand is None else value_id(self._resolve(operand)) for operand in new.inputs
        )
        identity = self.done.identities[new]
        twin = new.twin or self.named.get(new.op_type)
        base = new.name or (twin.name if twin is not None else None) or self.root.name or identity
        heirs = {} if new.twin is None else dict(enumerate(new.twin.outputs))
        heirs |= self.heirs.get(new, {})
        outputs = tuple(
            self._output_spec(f"{identity}:{index}", heirs.get(index), base, new.retyped.get(index))
            for index in range(new.outputs)
        )
        name = self.edited.fresh_node_name(base, leaving=self.free_names)
        self.free_names.discard(name)
        return edits.InsertNode(
            graph_id(graph),
            None if before is None else node_id(before),
            identity,
            new.domain,
            new.op_type,
            name,
            inputs,
            outputs,
            tuple(as_attributes(new.attributes)),
            tuple(self._empty(identity, held, body) for held, body in new.bodies.items()),
        )

    def _empty(self, owner: str, attribute: str, body: NewBody) -> edits.EmptyBody:
        graph = f"{owner}.{attribute}"
        inputs = tuple(
            self._output_spec(f"{graph}.i{index}", value, "input", None)
            for index, value in enumerate(body.inputs)
        )
        return edits.EmptyBody(attribute, graph, body.name, inputs)

    def _output_spec(
        self, identity: str, old: ir.Value | None, base: str, dtype: ir.DataType | None
    ) -> edits.ValueSpec:
        if old is None:
            name = self.edited.fresh_name(f"{base}_output")
            return edits.ValueSpec(identity, name, edits.Known(None, None))
        base = old.name or base
        if dtype is not None:  # beside the old value, whose name goes to what takes its place
            known = edits.Known(ir.TensorType(dtype), old.shape)
            return edits.ValueSpec(identity, self.edited.fresh_name(base), known)
        is_free = old.producer() in self.leaving
        name = base if is_free else self.edited.fresh_name(base)
        return edits.ValueSpec(identity, name, edits.Known(old.type, old.shape))

    def _resolve(self, operand: Operand) -> ir.Value:
        match operand:
            case NewOutput():
                return self.outputs[operand.node][operand.index]
            case NewInitializer():
                return self.created.get(operand) or self._add_initializer(operand, self.graph)
            case _:
                return self.entering.get(operand, operand)

    def _add_initializer(self, new: NewInitializer, graph: ir.Graph) -> ir.Value:
        name = self.edited.fresh_name(new.hint)
        identity = self.edited.fresh_id(self.root).replace("~", "~w")
        tensor = self.edited.new_weights.keep(new.tensor)
        self._edit(edits.AddInitializer(graph_id(graph), identity, name, tensor))
        value = self.created[new] = self.state.values[identity]
        return value

    def check_sizes(self) -> None:
        """What takes a value's place has its sizes: an axis more or less is another result."""
        for old, operand in self.proposal.values.items():
            if isinstance(operand, NewOutput) and not self.edited.contradiction(old):
                problem = self.edited.contradiction(self._resolve(operand))
                if problem:
                    raise Refused(f"the replacement has other sizes: {problem}")

    def _change_nodes(self) -> None:
        for node, changes in self.proposal.attributes.items():
            old = tuple(node.attributes.values())
            kept = {a.name: a for a in old if a.name not in changes}
            new = (*kept.values(), *as_attributes(changes))
            self._edit(edits.SetAttributes(node_id(node), old, new))
            self.rewired[node] = None
            self.done.changed.update(dict.fromkeys(node.outputs))
        for (node, index), operand in self.proposal.inputs.items():
            value = None if operand is None else self._resolve(operand)
            self._set_input(node, index, value)

    def _set_input(self, node: ir.Node, index: int, new: ir.Value | None) -> None:
        old = node.inputs[index]
        self._edit(edits.SetInput(node_id(node), index, _id_of(old), _id_of(new)))
        self.done.changed.update(dict.fromkeys(v for v in (old, new) if v is not None))
        if not self.edited.are_alike(old, new):
            self.rewired[node] = None

    def _replace(self, old: ir.Value, new: ir.Value) -> None:
        self.done.values[value_id(old)] = value_id(new)
        for use in tuple(old.uses()):
            self._set_input(use.node, use.idx, new)
        if old.is_graph_output():
            self._replace_output(old, new)
        self._learn(new, old.type, old.shape)
        self.done.changed[new] = None

    def _replace_output(self, old: ir.Value, new: ir.Value) -> None:
        graph = old.graph
        assert isinstance(graph, ir.Graph)
        for index, output in enumerate(graph.outputs):
            if output is old:
                self._edit(
                    edits.SetGraphOutput(graph_id(graph), index, value_id(old), value_id(new))
                )

    def _remove_unused(self) -> None:
        """Take out matched nodes nothing needs any more, then Constants only they used."""
        pending = sorted(self.proposal.matched, key=self.edited.position, reverse=True)
        for node in pending:
            if node.graph is self.graph and not any(map(is_used, node.outputs)):
                self._remove(node)

    def _remove(self, node: ir.Node) -> None:
        assert isinstance(node.graph, ir.Graph)
        follower = self.edited.follower(node)
        inputs = node.inputs
        inner = [n for body in bodies(node) for n in walk_nodes(body)]
        for captured in (v for n in inner for v in n.inputs if v is not None):
            self.done.changed[captured] = None
        self._edit(
            edits.RemoveNode(
                graph_id(node.graph),
                node_id(node),
                None if follower is None else node_id(follower),
                tuple(map(_id_of, inputs)),
                tuple(map(node_id, inner)),
            )
        )
        self.done.removed.append(node)
        for value in inputs:
            producer = value.producer() if value is not None else None
            if producer is None or producer.graph is None or not is_constant_node(producer):
                continue
            if not is_used(producer.outputs[0]):
                self._remove(producer)

    def _drop_initializers(self, old_inputs: Sequence[ir.Value]) -> None:
        """Drop constants that only the removed nodes used, and those asked for."""
        for value in dict.fromkeys([*old_inputs, *self.proposal.drop]):
            if not value.is_initializer() or value.is_graph_input() or is_used(value):
                continue
            graph = value.graph
            assert isinstance(graph, ir.Graph)
            assert value.name is not None
            self._edit(edits.DropInitializer(graph_id(graph), value_id(value), value.name))

    def _settle_names(self) -> None:
        """Let replacements inherit the names of what they replaced, graph outputs above all."""
        for old, operand in self.proposal.values.items():
            new, name = self._resolve(operand), old.name
            producer = old.producer()
            gone = producer is not None and producer.graph is None
            if not name or new.is_graph_input() or name == new.name:
                continue
            if new.is_graph_output() and self._was_output(old):
                if not gone:
                    self._rename(old, self.edited.fresh_name(name))
                self._rename(new, name)
            elif gone and isinstance(operand, NewOutput):
                self._rename(new, name)

    def _was_output(self, old: ir.Value) -> bool:
        identity = value_id(old)
        return any(
            isinstance(e, edits.SetGraphOutput) and e.old == identity for e in self.done.edits
        )

    def _rename(self, value: ir.Value, name: str) -> None:
        assert value.name is not None
        self._edit(edits.Rename(value_id(value), value.name, name))

    def _learn(self, value: ir.Value, kind: ir.TypeProtocol | None, shape: ir.Shape | None) -> None:
        """Write down a type or shape where none was known."""
        known = edits.Known(value.type, value.shape)
        better = edits.Known(known.type or kind, shape if known.shape is None else known.shape)
        if better != known:
            self._edit(edits.Retype(value_id(value), known, better))
            self.done.changed[value] = None
            self.rewired.update(dict.fromkeys(use.node for use in value.uses()))

    def _refine(self) -> None:
        """Carry new knowledge about shapes forward, as far as it reaches."""
        to_come = dict.fromkeys([*self.done.added, *self.rewired])
        for node in [*to_come]:
            del to_come[node]
            pending = [node]
            while pending:
                current = pending.pop()
                if current.graph is None:
                    continue
                for news in self.edited.refinements(current):
                    self._write_down(news)
                    pending += [one for one in readers(news.value) if one not in to_come]

    def _write_down(self, news: Refinement) -> None:
        value = news.value
        self.done.changed[value] = None
        if news.dtype is None and news.shape is None:
            return  # elements, which the graph does not tell
        known = edits.Known(value.type, value.shape)
        kind = value.type if news.dtype is None else ir.TensorType(news.dtype)
        shape = value.shape if news.shape is None else ir.Shape(news.shape)
        self._edit(edits.Retype(value_id(value), known, edits.Known(kind, shape)))


def _id_of(value: ir.Value | None) -> str | None:
    return None if value is None else value_id(value)
