"""What a tool changed, told from the graph before and the graph after, by names and structure.

A node is the same where operator, attributes and bodies are, and the names of what it makes, or all
that it reads; it keeps its id. Constants are the same by what they hold, as initializers or as
nodes. The rest has left, or is new.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.imported.alike import (
    captured,
    fingerprint,
    held_by,
    makes_constant,
    same_operator,
    same_tensor,
)
from optimizer.imported.places import inferred
from optimizer.model.graph import bodies
from optimizer.rules import Declined, NewInitializer, NewNode, NewOutput, Operand, Replacement
from optimizer.rules.standing import Standing, needs


class _NotTaken(Exception):
    """The change is of a kind that is not taken over; the text says which."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a tool changed.

    Attributes:
        replacement: one for all; its reason is still to be said.
        removed: nodes that leave.
        added: nodes that come.
    """

    replacement: Replacement
    removed: int
    added: int


def recovered(source: ir.Graph, made: ir.Graph) -> Recovered | Declined | None:
    """What has to be done to one graph so that it computes as the other; None for nothing.

    Args:
        source: of the model, with ids.
        made: by a tool, with the same inputs and outputs.
    """
    try:
        return _Recovery(source, made).result()
    except _NotTaken as reason:
        return Declined(str(reason))


@dataclass(slots=True)
class _Change:
    """What is collected for a replacement."""

    values: dict[ir.Value, Operand] = field(default_factory=dict[ir.Value, Operand])
    inputs: dict[tuple[ir.Node, int], Operand | None] = field(
        default_factory=dict[tuple[ir.Node, int], "Operand | None"]
    )


class _Recovery:
    def __init__(self, source: ir.Graph, made: ir.Graph) -> None:
        self.source, self.made = source, made
        self.position = {node: index for index, node in enumerate(source)}
        self.named = {value.name: value for value in _values(source) if value.name}
        self.constants: dict[tuple[object, ...], list[ir.Value]] = {}
        for value in self.named.values():
            if not value.is_graph_input() and (tensor := held_by(value)) is not None:
                self.constants.setdefault(_kind(tensor), []).append(value)
        self.operands: dict[ir.Value, Operand] = {}
        self.kept: dict[ir.Node, ir.Node] = {}
        self.new: dict[ir.Node, NewNode] = {}
        self.change = _Change()
        self.read: set[ir.Value] = set()

    def result(self) -> Recovered | None:
        """All of it."""
        self._match()
        made: Mapping[str | None, ir.Value] = {v.name: v for v in _values(self.made) if v.name}
        stays = set(self.kept.values())
        self._rewire(made, stays)
        change = self.change
        self.read.update(v for v in change.inputs.values() if isinstance(v, ir.Value))
        self.read.update(v for v in change.values.values() if isinstance(v, ir.Value))
        removed = [
            node
            for node in self.source
            if node not in stays and not (makes_constant(node) and self._is_read(node, stays))
        ]
        drop = [value for value in self._initializers() if not self._is_read_value(value, stays)]
        if not (removed or self.new or change.values or change.inputs or drop):
            return None
        nodes = list(self.new.values())
        proposal = Replacement(
            removed, change.values, "", nodes, inputs=change.inputs, drop=drop,
            opsets=self._opsets(),
        )  # fmt: skip
        names = {new: [v.name or "" for v in node.outputs] for node, new in self.new.items()}
        order = self._order(proposal, removed) if nodes or change.inputs or change.values else []
        return Recovered(
            Replacement(
                removed, change.values, "", nodes, inputs=change.inputs, drop=drop,
                opsets=proposal.opsets, order=order,
                inferred=inferred(removed, names, self._neighbours(order)),
            ),
            len(removed),
            len(nodes),
        )  # fmt: skip

    # ---- which nodes are the same

    def _match(self) -> None:
        named = self._same_names()
        taken = set(named.values())
        alike: dict[tuple[object, ...], list[ir.Node]] | None = None
        for node in self.made:
            if makes_constant(node):
                continue
            inputs = [None if value is None else self._operand(value) for value in node.inputs]
            twin = named.get(node)
            if twin is None:
                alike = self._unnamed(taken) if alike is None else alike
                twin = self._same_structure(node, inputs, alike)
            if twin is None:
                self._create(node, inputs)
            else:
                self.kept[node] = twin
                self.operands.update(zip(node.outputs, twin.outputs, strict=False))

    def _same_names(self) -> dict[ir.Node, ir.Node]:
        """Nodes that make values of the same names by the same operator."""
        found: dict[ir.Node, ir.Node] = {}
        for node in self.made:
            names = _names(node)
            first = next((name for name in names if name), None)
            value = self.named.get(first) if first else None
            twin = None if value is None else value.producer()
            if twin is None or makes_constant(twin) or not same_operator(node, twin):
                continue
            fits = len(_stripped(node.inputs)) <= len(twin.inputs)
            if fits and _fit(names, _names(twin), twin):
                found[node] = twin
        return found

    def _unnamed(self, taken: set[ir.Node]) -> dict[tuple[object, ...], list[ir.Node]]:
        """Nodes that no other is named as, by what they compute of what."""
        found: dict[tuple[object, ...], list[ir.Node]] = {}
        for node in self.source:
            if node in taken or any(value.is_graph_output() for value in node.outputs):
                continue
            key = fingerprint(node, _stripped(node.inputs))
            if key is not None:
                found.setdefault(key, []).append(node)
        return found

    def _same_structure(
        self,
        node: ir.Node,
        inputs: list[Operand | None],
        alike: dict[tuple[object, ...], list[ir.Node]],
    ) -> ir.Node | None:
        given = _stripped(inputs)
        if any(isinstance(operand, NewOutput | NewInitializer) for operand in given):
            return None
        key = fingerprint(node, given)
        twins = alike.get(key, []) if key is not None else []
        for twin in twins:
            if len(twin.outputs) >= len(node.outputs):
                twins.remove(twin)
                return twin
        return None

    def _create(self, node: ir.Node, inputs: list[Operand | None]) -> None:
        if any(bodies(node)):
            raise _NotTaken(
                f"It changes a node with bodies, which is not taken over: {_told(node)}"
            )
        new = self.new[node] = NewNode(
            node.op_type, inputs, dict(node.attributes), node.domain, len(node.outputs),
            name=node.name,
        )  # fmt: skip
        self.read.update(operand for operand in inputs if isinstance(operand, ir.Value))
        for index, output in enumerate(node.outputs):
            self.operands[output] = new.output(index)

    # ---- values

    def _operand(self, value: ir.Value) -> Operand:
        """What a value of the new graph is here: something new, or a value of the source."""
        if value not in self.operands:
            self.operands[value] = self._outer(value)
        return self.operands[value]

    def _outer(self, value: ir.Value) -> Operand:
        """An input of the graph, or a constant."""
        twin = self.named.get(value.name or "")
        if value.is_graph_input():
            if twin is None or not twin.is_graph_input():
                raise _NotTaken(f"It adds an input: {quoted(value.name or '')}")
            return twin
        tensor = held_by(value)
        if tensor is None:
            raise _NotTaken(f"It reads a value that nothing makes: {quoted(value.name or '')}")
        candidates = self.constants.get(_kind(tensor), [])
        if twin in candidates:
            candidates = [twin, *candidates]
        for candidate in candidates:
            held = held_by(candidate)
            if held is not None and same_tensor(tensor, held):
                return candidate
        if tensor.dtype == ir.DataType.STRING:
            raise _NotTaken("It makes a constant of texts, which is not taken over")
        return NewInitializer(_copied(tensor), value.name or "constant")

    def _rewire(self, made: Mapping[str | None, ir.Value], stays: set[ir.Node]) -> None:
        """Who reads what from now on."""
        values = self.change.values
        for node in self.source:
            if node not in stays and not makes_constant(node):
                for old in node.outputs:
                    if old.name in made and (old.uses() or old.is_graph_output()):
                        values[old] = self._operand(made[old.name])
        for old, new in zip(self.source.outputs, self.made.outputs, strict=True):
            operand = self._operand(new)
            if operand is not old:
                values[old] = operand
        for node, twin in self.kept.items():
            self._check_captured(twin, made)
            read = (None if value is None else self._operand(value) for value in node.inputs)
            given = _stripped(read)
            for index, old in enumerate(twin.inputs):
                operand = given[index] if index < len(given) else None
                if operand is not (None if old is None else values.get(old, old)):
                    self.change.inputs[twin, index] = operand

    def _check_captured(self, node: ir.Node, made: Mapping[str | None, ir.Value]) -> None:
        """Bodies read by name: what they read stays, or another value takes its place."""
        for value in captured(node):
            if value in self.change.values or value.is_graph_input() or held_by(value) is not None:
                continue
            if value.name not in made or self._operand(made[value.name]) is not value:
                raise _NotTaken(
                    f"It changes what a body reads, which is not taken over: {_told(node)}"
                )

    def _is_read(self, node: ir.Node, stays: set[ir.Node]) -> bool:
        return any(self._is_read_value(value, stays) for value in node.outputs)

    def _is_read_value(self, value: ir.Value, stays: set[ir.Node]) -> bool:
        """Whether something reads a constant afterwards."""
        change = self.change
        if value in change.values:
            return False
        if value in self.read or value.is_graph_output():
            return True
        for use in value.uses():
            inside = use.node.graph is not self.source
            if inside or (use.node in stays and (use.node, use.idx) not in change.inputs):
                return True
        return False

    def _initializers(self) -> Iterator[ir.Value]:
        for value in self.source.initializers.values():
            if not value.is_graph_input():
                yield value

    def _opsets(self) -> dict[str, int]:
        made, own = self.made.opset_imports, self.source.opset_imports
        for domain, version in own.items():
            if made.get(domain, version) != version:
                raise _NotTaken(
                    f"It writes another operator set, which is not taken over: {domain}"
                )
        domains = {new.domain for new in self.new.values()} - {*own}
        return {domain: made[domain] for domain in sorted(domains) if domain in made}

    # ---- order and provenance

    def _order(self, proposal: Replacement, removed: list[ir.Node]) -> list[Standing]:
        """Those that stay as they stand, new ones where what they replace stood, if that may be."""
        gone = set(removed)
        items: list[Standing] = [node for node in self.source if node not in gone]
        items += proposal.nodes
        rank: dict[Standing, float] = {node: float(self.position[node]) for node in items
                                       if isinstance(node, ir.Node)}  # fmt: skip
        before = {item: set(needs(item, self.source, proposal)) - gone for item in items}
        names = {new: [value.name for value in node.outputs] for node, new in self.new.items()}
        for new, made in names.items():
            old = [self.named[name].producer() for name in made if name in self.named]
            stood = [self.position[node] for node in old if node in self.position]
            rank[new] = max([*stood, *(rank[one] + 1e-3 for one in before[new])], default=-1.0)
        return _sorted(items, before, rank)

    def _neighbours(self, order: list[Standing]) -> dict[NewNode, ir.Node]:
        """For each new node one that stays beside it: that reads it, that it reads, or any."""
        found: dict[NewNode, ir.Node] = {}
        for (node, _), operand in self.change.inputs.items():
            if isinstance(operand, NewOutput):
                found.setdefault(operand.node, node)
        last: ir.Node | None = next((one for one in order if isinstance(one, ir.Node)), None)
        for item in order:
            if isinstance(item, ir.Node):
                last = item
                continue
            makers = (v.producer() for v in item.inputs if isinstance(v, ir.Value))
            maker = next((node for node in makers if node is not None), last)
            if maker is not None:
                found.setdefault(item, maker)
        return found


def _sorted(
    items: list[Standing], before: dict[Standing, set[Standing]], rank: dict[Standing, float]
) -> list[Standing]:
    """What is needed first; else by rank."""
    waiting = {item: len(needed) for item, needed in before.items()}
    after: dict[Standing, list[Standing]] = {}
    for item, needed in before.items():
        for one in needed:
            after.setdefault(one, []).append(item)
    number = {item: index for index, item in enumerate(items)}
    ready = [(rank[item], number[item]) for item in items if not waiting[item]]
    heapq.heapify(ready)
    found: list[Standing] = []
    while ready:
        item = items[heapq.heappop(ready)[1]]
        found.append(item)
        for one in after.get(item, ()):
            waiting[one] -= 1
            if not waiting[one]:
                heapq.heappush(ready, (rank[one], number[one]))
    return found


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from graph.inputs
    yield from graph.initializers.values()
    for node in graph:
        yield from node.outputs


def _kind(tensor: ir.TensorProtocol) -> tuple[object, ...]:
    return (tensor.dtype, *tensor.shape.numpy())


def _copied(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    """The data alone, apart from the tool's file."""
    return ir.Tensor(tensor.numpy().copy(), dtype=tensor.dtype)


def _stripped(inputs: Iterable[Operand | None]) -> list[Operand | None]:
    found = list(inputs)
    while found and found[-1] is None:
        found.pop()
    return found


def _names(node: ir.Node) -> list[str]:
    return [value.name or "" for value in node.outputs]


def _fit(names: list[str], others: list[str], twin: ir.Node) -> bool:
    """Whether all that one node makes is what the other one makes, what nobody reads left out."""
    if len(names) > len(others):
        return False
    for index, other in enumerate(others):
        name = names[index] if index < len(names) else ""
        value = twin.outputs[index]
        if name != other and (name or value.uses() or value.is_graph_output()):
            return False
    return True


def _told(node: ir.Node) -> str:
    return f"{node.op_type} {quoted(node.name or '')}"
