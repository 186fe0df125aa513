"""Nodes that run again: the program with them, and the model with them.

A copy runs just before some node and makes its results once more. Whoever reads from there on reads
the latest ones. Copies before one node run in the order of what they are copies of, so that a set
of copies says everything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from optimizer.errors import PlanError, quoted
from optimizer.memory.program import NOTHING, Operation, Program, Tensor
from optimizer.model.graph import ID, Model, bodies, node_id, walk_graphs, walk_nodes
from optimizer.operators.catalogue import is_random

Copy = tuple[str, str]
"""Ids of a node, and of the node just before which it runs again."""

Pair = tuple[int, int]
"""The same by position in the program."""


@dataclass(slots=True)
class Expanded:
    """A program with copies.

    Attributes:
        program: its operations in the order to run them.
        origin: for each operation which one of the first program it is or repeats.
        before: for each operation the one of the first program it is or runs before.
    """

    program: Program
    origin: list[int]
    before: list[int]


def may_repeat(node: ir.Node) -> bool:
    """Whether a second run gives the same: nothing is drawn at random, and no body runs."""
    return not is_random(node) and not any(True for _ in bodies(node))


def expanded(program: Program, order: Sequence[int], copies: Collection[Pair]) -> Expanded:
    """The program with its operations in this order, and copies between them."""
    made = Program(program.graph, tensors=list(program.tensors))
    found = Expanded(made, [], [])
    latest = list(range(len(program.tensors)))
    for index, before, again in _sequence(order, copies):
        operation = program.operations[index]
        makes = operation.makes
        reads = tuple(dict.fromkeys([latest[tensor] for tensor in operation.reads]))
        looks_at = NOTHING if operation.looks_at == NOTHING else latest[operation.looks_at]
        over = tuple(latest[tensor] for tensor in operation.writes_over)
        if again:
            for tensor in operation.makes:
                source = program.tensors[tensor]
                latest[tensor] = len(made.tensors)
                made.tensors.append(Tensor(source.value, source.size_bytes, "made"))
            makes = tuple(latest[tensor] for tensor in operation.makes)
        one = Operation(operation.id, operation.node, reads, makes, looks_at, over)
        made.operations.append(one)
        found.origin.append(index)
        found.before.append(before)
    return found


def _sequence(order: Sequence[int], copies: Collection[Pair]) -> Iterator[tuple[int, int, bool]]:
    """What runs, before what, and whether it is a copy."""
    step = {index: step for step, index in enumerate(order)}
    waiting: dict[int, list[int]] = {}
    for index, before in copies:
        waiting.setdefault(before, []).append(index)
    for index in order:
        for again in sorted(waiting.get(index, ()), key=step.__getitem__):
            yield again, index, True
        yield index, index, False


def with_copies(model: Model, copies: Iterable[Copy]) -> Model:
    """A copy of `model` in which some nodes run again, just before others; its outputs are equal.

    Args:
        model: stays as it is; its nodes run in list order, see `apply_order` for another.
        copies: as `rematerialize` gives them for that order.

    Raises:
        PlanError: there is no such node, it may not run twice, or it comes after the other.
    """
    clone = model.ir.clone()
    graph = clone.graph
    nodes = {node_id(node): node for node in graph}
    place = {identity: index for index, identity in enumerate(nodes)}
    waiting: dict[str, list[str]] = {}
    for identity, before in dict.fromkeys(copies):
        _check(nodes, place, identity, before)
        waiting.setdefault(before, []).append(identity)
    names = _Names(graph)
    inputs = {identity: node.inputs for identity, node in nodes.items()}  # as they were
    latest: dict[ir.Value, ir.Value] = {}
    for identity, node in nodes.items():
        for again in sorted(waiting.get(identity, ()), key=place.__getitem__):
            read = [None if value is None else latest.get(value, value) for value in inputs[again]]
            copy = _copied(nodes[again], identity, read, names)
            graph.insert_before(node, copy)
            latest.update(zip(nodes[again].outputs, copy.outputs, strict=True))
        if latest:
            _redirect(node, latest)
    return replace(model, ir=clone)


def _check(nodes: dict[str, ir.Node], place: dict[str, int], identity: str, before: str) -> None:
    for one in (identity, before):
        if one not in place:
            raise PlanError(f"There is no node {quoted(one)} in the main graph.")
    name = quoted(nodes[identity].name or identity)
    if place[identity] >= place[before]:
        other = quoted(nodes[before].name or before)
        raise PlanError(f"Node {name} cannot run again before {other}, which comes first.")
    if not may_repeat(nodes[identity]):
        raise PlanError(f"Node {name} may give something else when it runs again.")


def _copied(
    node: ir.Node, before: str, inputs: Sequence[ir.Value | None], names: _Names
) -> ir.Node:
    outputs = [
        ir.Value(name=names.fresh(value.name), type=value.type, shape=value.shape)
        for value in node.outputs
    ]
    copy = ir.Node(
        node.domain,
        node.op_type,
        inputs,
        node.attributes.values(),
        overload=node.overload,
        outputs=outputs,
        name=names.fresh(node.name),
    )
    copy.meta[ID] = f"{node_id(node)}@{before}"
    for index, value in enumerate(outputs):
        value.meta[ID] = f"{copy.meta[ID]}:{index}"
    return copy


def _redirect(node: ir.Node, latest: dict[ir.Value, ir.Value]) -> None:
    """Let a node and its bodies read the latest results."""
    for reader in (node, *(inner for body in bodies(node) for inner in walk_nodes(body))):
        for index, value in enumerate(reader.inputs):
            if value in latest:
                reader.replace_input_with(index, latest[value])
    for inside in (graph for body in bodies(node) for graph in walk_graphs(body)):
        for index, value in enumerate(inside.outputs):
            if value in latest:
                inside.outputs[index] = latest[value]


class _Names:
    """Names that no node and no value has."""

    def __init__(self, graph: ir.Graph) -> None:
        self._taken: set[str | None] = set()
        for inside in walk_graphs(graph):
            self._taken.update(
                value.name for value in (*inside.inputs, *inside.initializers.values())
            )
        for node in walk_nodes(graph):
            self._taken.update((node.name, *(value.name for value in node.outputs)))

    def fresh(self, name: str | None) -> str | None:
        """A name like the given one; none for an output that is left out."""
        if not name:
            return name
        number = 1
        while (wish := f"{name}_again{number}") in self._taken:
            number += 1
        self._taken.add(wish)
        return wish
