"""Which nodes compute in 16 bits, so that the fewest bytes are moved, casts counted.

A minimum cut: the nodes of float32 are on one side, those of 16 bits on the other. A cut edge is
what is paid: the bytes of a cast, once for all its readers; the bytes that a node moves more in
float32; the bytes that a constant takes in a file, in one format or in both.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.cost.sizes import Sizes
from optimizer.minimum_cut import MinimumCut
from optimizer.model.graph import is_used
from optimizer.operators.catalogue import operator_of
from optimizer.precision.float_formats import FloatFormat
from optimizer.precision.sixteen_bits import (
    FLOAT,
    TypedPositions,
    is_heavy,
    reason_to_stay,
    signature,
    type_of,
)

FLOAT32, BITS16 = "float32", "16 bits"
"""The two sides; also the vertices of all nodes that are settled."""

Vertex = str | ir.Node

_SAVED, _HALF, _WHOLE = 2, 2, 4
"""Bytes an element: what 16 bits save, what they take, what float32 takes."""
_CAST = _HALF + _WHOLE
_TOO_DEAR = "casting what it reads and gives would move more bytes than 16 bits save"


@dataclass(frozen=True, slots=True)
class FormatAssignment:
    """What is computed in which format.

    Attributes:
        sixteen: nodes that compute in float32 and should in 16 bits.
        stays: why other nodes of float32 results go on so.
    """

    sixteen: frozenset[ir.Node]
    stays: Mapping[ir.Node, str]


def assigned(
    graph: ir.Graph, form: FloatFormat, opsets: Mapping[str, int], keep: Collection[str] = ()
) -> FormatAssignment:
    """What the nodes of the main graph should compute in.

    Products, attention and recurrence are in 16 bits wherever they may be, since there 16 bits pay;
    what asks for range or is on the keep-list is in float32; bytes decide on the rest.

    Args:
        graph: the main graph; bodies stay as they are.
        form: of the 16 bits.
        opsets: versions by domain.
        keep: ids of nodes that stay float32.
    """
    vertices: dict[ir.Node, Vertex] = {}
    signatures: dict[ir.Node, TypedPositions] = {}
    stays: dict[ir.Node, str] = {}
    for node in graph:
        found = signature(node, opsets)
        kind = None if found is None else type_of(node, found)
        if found is None or kind not in (FLOAT, form.dtype) or _converts(node, form):
            continue
        vertices[node], signatures[node] = BITS16, found
        if kind == FLOAT:
            stays[node] = reason_to_stay(node, form, opsets, keep)
            vertices[node] = FLOAT32 if stays[node] else BITS16 if is_heavy(node) else node
    side = _Network(graph, form, vertices, signatures).cheaper_side()
    sixteen = frozenset(node for node in stays if vertices[node] in side)
    told = {
        node: why or _TOO_DEAR
        for node, why in stays.items()
        if node not in sixteen and any(value.dtype == FLOAT for value in node.outputs)
    }
    return FormatAssignment(sixteen, told)


def _converts(node: ir.Node, form: FloatFormat) -> bool:
    """Whether a node casts between float32 and the 16 bits."""
    if node.op_type != "Cast" or node.domain or node.inputs[0] is None:
        return False
    ends = {node.inputs[0].dtype, node.outputs[0].dtype}
    return ends == {FLOAT, form.dtype}


class _Network:
    """The flow network of one graph."""

    def __init__(
        self,
        graph: ir.Graph,
        form: FloatFormat,
        vertices: Mapping[ir.Node, Vertex],
        signatures: Mapping[ir.Node, TypedPositions],
    ) -> None:
        self._graph, self._form = graph, form
        self._vertices, self._signatures = vertices, signatures
        self._sizes = Sizes.of(graph)
        self._cut = MinimumCut(FLOAT32, BITS16)

    def cheaper_side(self) -> frozenset[Hashable]:
        """The vertices that are in 16 bits in the cheapest cut, as few as there may be."""
        for node, vertex in self._vertices.items():
            if vertex is node:
                self._cut.edge(node, BITS16, _SAVED * self._moved(node))
        for value in self._values():
            (self._store if constant_of(value) is not None else self._convert)(value)
        return self._cut.far_side()

    def _values(self) -> Iterator[ir.Value]:
        """Everything that may be read in either format, as it is before any cast."""
        seen: dict[ir.Value, None] = {}
        for node, found in self._signatures.items():
            values = [node.inputs[i] for i in found.inputs]
            values += [node.outputs[i] for i in found.outputs]
            for value in values:
                if value is not None and value.dtype in (FLOAT, self._form.dtype):
                    seen[self._origin(value)] = None
        return iter(seen)

    def _origin(self, value: ir.Value) -> ir.Value:
        while (node := value.producer()) is not None and _converts(node, self._form):
            assert node.inputs[0] is not None
            value = node.inputs[0]
        return value

    def _elements(self, value: ir.Value) -> int:
        return self._sizes.elements(value) or 1

    def _moved(self, node: ir.Node) -> int:
        """Elements that a node reads and writes, constants left out; none by a view."""
        operator, found = operator_of(node), self._signatures[node]
        if operator is None or operator.result != "new":
            return 0
        read = [node.inputs[i] for i in found.inputs]
        written = [node.outputs[i] for i in found.outputs if is_used(node.outputs[i])]
        values = [v for v in read if v is not None and constant_of(v) is None] + written
        return sum(self._elements(value) for value in values)

    def _readers(self, origin: ir.Value) -> dict[Vertex, None]:
        """The vertices of all that read a value or what it is cast to."""
        readers: dict[Vertex, None] = {}
        forms = [origin]
        for value in forms:
            if value.is_graph_output():
                readers[self._settled(value)] = None
            for use in value.uses():
                if _converts(use.node, self._form) and use.node.graph is self._graph:
                    forms.append(use.node.outputs[0])
                    continue
                if use.node.op_type == "CastLike" and use.idx == 1:
                    continue  # it is read for its type, which the pass writes down
                vertex = self._vertices.get(use.node)
                inside = vertex is not None and use.idx in self._signatures[use.node].inputs
                readers[vertex if vertex is not None and inside else self._settled(value)] = None
        return readers

    def _settled(self, value: ir.Value) -> Vertex:
        return FLOAT32 if value.dtype == FLOAT else BITS16

    def _convert(self, value: ir.Value) -> None:
        """A value that is computed: one cast down for all readers of 16 bits, one up."""
        producer = value.producer()
        maker = self._vertices.get(producer) if producer is not None else None
        if maker is not None and producer is not None:
            maker = maker if value.index() in self._signatures[producer].outputs else None
        source = self._settled(value) if maker is None else maker
        price = _CAST * self._elements(value)
        readers = self._readers(value)
        self._cut.edge_to_any(source, readers, price)
        self._cut.edge_from_any(readers, source, price)

    def _store(self, value: ir.Value) -> None:
        """A constant: stored in 16 bits for whoever reads it so, in float32 for the others."""
        readers, elements = self._readers(value), self._elements(value)
        self._cut.edge_to_any(FLOAT32, readers, _HALF * elements)
        self._cut.edge_from_any(readers, BITS16, _WHOLE * elements)
