"""A graph as ONNX Runtime runs it with all of its own rewrites off.

A few it makes all the same when a session is created: constants become initializers, operators that
have no kernel give way to the nodes of their definition, and casts that follow each other are
joined. Of the definitions only CastLike's is known here, a single Cast; and where several nodes
read one DequantizeLinear, which gets a copy for each, nothing is known. Source: ONNX Runtime 1.31,
insert_cast_transformer.cc (RemoveDuplicateCastTransformer), graph_partitioner.cc and
ensure_unique_dq_for_node_unit.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.model.graph import bodies, node_id, walk_graphs, walk_nodes

_HALF = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16})
Kind = Literal["bool", "signed", "unsigned", "float", "other"]


@dataclass(slots=True)
class RuntimeNode:
    """A node that runs.

    Attributes:
        node: of the graph.
        inputs: by position, casts that were joined left out.
        around: what its bodies read of the graphs around them.
    """

    node: ir.Node
    inputs: list[ir.Value | None]
    around: tuple[ir.Value, ...]

    @property
    def id(self) -> str:
        """The id of its node."""
        return node_id(self.node)

    @property
    def outputs(self) -> list[ir.Value]:
        """Outputs that exist; one without a name does not."""
        return [value for value in self.node.outputs if value.name]

    def reads(self) -> Iterator[ir.Value]:
        """Every value it reads, as often as it does."""
        yield from (value for value in self.inputs if value is not None)
        yield from self.around

    @property
    def is_cast(self) -> bool:
        """Whether it converts the elements of its first input, and nothing else."""
        return self.node.op_type in ("Cast", "CastLike") and not self.node.domain


def runtime_nodes(graph: ir.Graph) -> tuple[RuntimeNode, ...]:
    """The nodes that run, in the runtime's own numbering: the file's, what it adds last."""
    nodes = [_runtime_node(node) for node in graph if not is_constant_node(node)]
    nodes.sort(key=lambda one: one.node.op_type == "CastLike")
    return tuple(_without_joined_casts(nodes, set(graph.outputs)))


def _runtime_node(node: ir.Node) -> RuntimeNode:
    inputs = list(node.inputs[:1] if node.op_type == "CastLike" else node.inputs)
    return RuntimeNode(node, inputs, read_by_bodies(node))


def read_by_bodies(node: ir.Node) -> tuple[ir.Value, ...]:
    """Values that the bodies of a node use and do not make."""
    found: dict[ir.Value, None] = {}
    for body in bodies(node):
        inner = list(walk_graphs(body))
        own = {value for graph in inner for value in (*graph.inputs, *graph.initializers.values())}
        own |= {value for one in walk_nodes(body) for value in one.outputs}
        used = [value for one in walk_nodes(body) for value in one.inputs if value is not None]
        used += [value for graph in inner for value in graph.outputs]
        found |= dict.fromkeys(value for value in used if value not in own)
    return tuple(found)


def _without_joined_casts(
    nodes: list[RuntimeNode], outputs: set[ir.Value]
) -> Iterator[RuntimeNode]:
    readers: dict[ir.Value, list[RuntimeNode]] = {}
    for one in nodes:
        for value in one.reads():
            readers.setdefault(value, []).append(one)
    gone: set[int] = set()
    for one in nodes:
        if one.is_cast and id(one) not in gone:
            _join(one, readers, outputs, gone)
    return (one for one in nodes if id(one) not in gone)


def _join(
    cast: RuntimeNode,
    readers: dict[ir.Value, list[RuntimeNode]],
    outputs: set[ir.Value],
    gone: set[int],
) -> None:
    """Leave out casts back to where `cast` came from, and `cast` if only casts read it."""
    source, made = cast.inputs[0], cast.node.outputs[0]
    if source is None:
        return
    after = [one for one in readers.get(made, []) if id(one) not in gone]
    casts = [one for one in after if one.is_cast]
    before, loses = source.dtype, _loses(source.dtype, made.dtype)
    if loses and any(_loses(one.node.outputs[0].dtype, made.dtype) for one in casts):
        return
    back = [
        one
        for one in casts
        if one.node.outputs[0] not in outputs and one.node.outputs[0].dtype == before
    ]
    for one in back:
        gone.add(id(one))
        _redirect(one.node.outputs[0], source, readers)
    kept = [one.node.outputs[0].dtype for one in casts if id(one) not in gone]
    truth = loses and ir.DataType.BOOL in kept  # 0.5 is true, its integer is not
    if after and len(casts) == len(after) and made not in outputs and not truth:
        gone.add(id(cast))
        _redirect(made, source, readers)


def _redirect(old: ir.Value, new: ir.Value, readers: dict[ir.Value, list[RuntimeNode]]) -> None:
    for one in readers.pop(old, []):
        one.inputs = [new if value is old else value for value in one.inputs]
        one.around = tuple(new if value is old else value for value in one.around)
        readers.setdefault(new, []).append(one)


def _loses(source: ir.DataType | None, target: ir.DataType | None) -> bool:
    """Whether a cast may change a value, as the runtime judges it."""
    kinds: tuple[Kind, Kind] = (_kind(source), _kind(target))
    if source is None or target is None or "other" in kinds or frozenset((source, target)) == _HALF:
        return True
    narrower = _bits(target) <= _bits(source)
    match kinds:
        case ("signed" | "float", "unsigned") | ("float", "bool" | "signed"):
            return True
        case ("unsigned", "signed") | ("signed" | "unsigned", "float"):
            return narrower
        case _:
            return _bits(source) > _bits(target)


def _kind(dtype: ir.DataType | None) -> Kind:
    if dtype is None or dtype.bitwidth < 8 or dtype.name.startswith("FLOAT8"):
        return "other"
    if dtype == ir.DataType.BOOL:
        return "bool"
    if dtype.is_floating_point():
        return "float"
    if not dtype.is_integer():
        return "other"
    return "signed" if dtype.is_signed() else "unsigned"


def _bits(dtype: ir.DataType) -> int:
    return 1 if dtype == ir.DataType.BOOL else dtype.bitwidth
