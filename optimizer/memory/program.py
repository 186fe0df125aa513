"""A graph as memory sees it: operations that run, and the tensors they read and make.

Everything is a number here, so that orders can be tried fast. Constants, and what is computed from
constants alone, take no step and are no tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, cast

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import ID, bodies
from optimizer.operators.catalogue import is_random, operator_of

_UNSIZED = frozenset({ir.DataType.STRING, ir.DataType.UNDEFINED})


def looks_at(node: ir.Node) -> ir.Value | None:
    """The input whose bytes are the first output, unchanged; None where they are new."""
    operator = operator_of(node)
    if operator is None or operator.result != "view" or not node.inputs or is_random(node):
        return None
    return node.inputs[0]


def may_write_over(node: ir.Node) -> list[ir.Value]:
    """The inputs that the first output may replace, were they needed no more and as large.

    Whether an input is really needed no more depends on the order of the nodes, see `pieces`.

    Element i of the output depends on element i of such an input alone, or on its row. An input
    that is broadcast has fewer elements than the output, which the caller finds by size; one of
    another width per element is left out here.
    """
    if not node.inputs or not node.outputs:
        return []
    operator = operator_of(node)
    if operator is None or operator.overwrites == "nothing":
        return []
    if operator.name == "BatchNormalization" and not _infers(node):
        return []
    candidates = node.inputs if operator.overwrites == "any" else node.inputs[:1]
    return [value for value in candidates if value is not None and _as_wide(node, value)]


def _as_wide(node: ir.Node, value: ir.Value) -> bool:
    read, made = value.dtype, node.outputs[0].dtype
    if read is None or made is None or not _UNSIZED.isdisjoint((read, made)):
        return False
    return read == made or read.bitwidth == made.bitwidth


def _infers(node: ir.Node) -> bool:
    """Whether a BatchNormalization scales and shifts only, instead of taking statistics."""
    mode = node.attributes.get("training_mode")
    extra = any(value.name for value in node.outputs[1:])
    return not extra and (mode is None or not mode.as_int())


Role = Literal["made", "input", "output"]
NOTHING = -1
_KNOWN_DOMAINS = frozenset({"", "ai.onnx", "com.microsoft"})


@dataclass(slots=True)
class Tensor:
    """A value that is there during a run.

    Attributes:
        value: the value itself.
        size_bytes: not aligned; None where it is unknown.
        role: "input" and "output" of the graph belong to its caller.
    """

    value: ir.Value
    size_bytes: int | None
    role: Role


@dataclass(slots=True)
class Operation:
    """A node that runs.

    Attributes:
        id: of the node; empty where it was given none.
        node: the node itself.
        reads: positions of the different tensors it needs, those of its bodies included.
        makes: positions of its outputs.
        looks_at: the tensor whose bytes `makes[0]` shares if views may; `NOTHING` otherwise.
        writes_over: tensors that `makes[0]` may replace, if they are needed no more.
    """

    id: str
    node: ir.Node
    reads: tuple[int, ...]
    makes: tuple[int, ...]
    looks_at: int = NOTHING
    writes_over: tuple[int, ...] = ()


@dataclass(slots=True)
class Program:
    """A graph, ready for the study of its memory.

    Attributes:
        graph: the graph.
        operations: in list order.
        tensors: inputs first, then as they are made.
        fixed: the nodes that compute constants.
        needed: the constants that a node or the caller reads, also those of graphs around.
        outer: values of graphs around that are read here and are no constants.
        bodies: the position of the owner, and the program of the body.
    """

    graph: ir.Graph
    operations: list[Operation] = field(default_factory=list[Operation])
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    fixed: list[ir.Node] = field(default_factory=list[ir.Node])
    needed: dict[ir.Value, None] = field(default_factory=dict[ir.Value, None])
    outer: dict[ir.Value, None] = field(default_factory=dict[ir.Value, None])
    bodies: list[tuple[int, Program]] = field(default_factory=list[tuple[int, "Program"]])

    def ids(self) -> list[str]:
        """The ids of the operations' nodes."""
        return [operation.id for operation in self.operations]

    def before(self) -> list[list[int]]:
        """For each operation those that must run before it."""
        maker = [NOTHING] * len(self.tensors)
        for index, operation in enumerate(self.operations):
            for tensor in operation.makes:
                maker[tensor] = index
        return [
            list(dict.fromkeys(maker[t] for t in operation.reads if maker[t] != NOTHING))
            for operation in self.operations
        ]


def read_program(graph: ir.Graph, measure: Sizes) -> Program:
    """Read a graph and its bodies; linear in their size.

    Args:
        graph: with inferred shapes and ids, its nodes in topological order.
        measure: tells sizes.
    """
    return _Reader(graph, measure, set()).program


class _Reader:
    def __init__(self, graph: ir.Graph, measure: Sizes, constants: set[ir.Value]) -> None:
        self.program = Program(graph)
        self._measure = measure
        self._constants = constants  # of all graphs that were read so far
        self._place: dict[ir.Value, int] = {}
        self._outputs = set(graph.outputs)
        for value in graph.inputs:
            self._add(value, "input")
        constants.update(v for v in graph.initializers.values() if v not in self._place)
        for node in graph:
            self._read(node)
        for value in graph.outputs:
            self._use(value)

    def _read(self, node: ir.Node) -> None:
        inner = [_Reader(body, self._measure, self._constants).program for body in bodies(node)]
        if not inner and self._is_constant(node):
            self._constants.update(node.outputs)
            self.program.fixed.append(node)
            return
        used: dict[ir.Value | None, None] = dict.fromkeys(node.inputs)
        for program in inner:
            self.program.bodies.append((len(self.program.operations), program))
            used |= program.outer | program.needed
        reads = tuple(place for value in used if (place := self._use(value)) != NOTHING)
        makes = tuple(self._add(value, "made") for value in node.outputs if value.name)
        identity = cast("str", node.meta.get(ID, ""))
        operation = Operation(identity, node, reads, makes)
        self.program.operations.append(operation)
        if makes and reads and node.outputs[0].name:
            operation.looks_at = self._looked_at(node, makes[0])
            operation.writes_over = tuple(self._replaceable(node, makes[0]))

    def _is_constant(self, node: ir.Node) -> bool:
        if is_constant_node(node):
            return True
        given = [value for value in node.inputs if value is not None]
        if not given or not self._constants.issuperset(given):
            return False
        return node.domain in _KNOWN_DOMAINS and not is_random(node)

    def _add(self, value: ir.Value, role: Role) -> int:
        position = self._place[value] = len(self.program.tensors)
        if role == "made" and value in self._outputs:
            role = "output"
        self.program.tensors.append(Tensor(value, self._measure.size_bytes(value), role))
        return position

    def _use(self, value: ir.Value | None) -> int:
        """The position of a value; `NOTHING`, and a note, where it is no tensor of this graph."""
        if value is None:
            return NOTHING
        position = self._place.get(value, NOTHING)
        if position == NOTHING:
            other = self.program.needed if value in self._constants else self.program.outer
            other[value] = None
        return position

    def _looked_at(self, node: ir.Node, made: int) -> int:
        source = looks_at(node)
        position = NOTHING if source is None else self._place.get(source, NOTHING)
        if position == NOTHING:
            return NOTHING
        sizes = {self.program.tensors[place].size_bytes for place in (position, made)} - {None}
        return position if len(sizes) < 2 else NOTHING  # declared shapes may contradict each other

    def _replaceable(self, node: ir.Node, made: int) -> Iterator[int]:
        size = self.program.tensors[made].size_bytes
        for value in may_write_over(node) if size else ():
            position = self._place.get(value, NOTHING)
            if position != NOTHING and self.program.tensors[position].size_bytes == size:
                yield position
