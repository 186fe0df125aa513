"""One node and the edges into it as the browser gets them: `passlens.graph/1`.

Constants are no boxes, so they have no edges. A node with bodies gets an edge from whatever
computes the outputs of its bodies; what a body reads from outside is an edge to the reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any

import onnx
import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node
from optimizer.model.graph import bodies, node_id, value_id
from optimizer.operators.outlined import OUTLINED, outlined_title
from studio.graphview.categories import category
from studio.graphview.text import (
    MAX_NUMBERS,
    TIMES,
    attribute_text,
    brief,
    cut,
    dims_text,
    dtype_name,
    dtype_text,
    shape_text,
)

Record = dict[str, Any]
Edge = tuple[str, str, int, int]
"""From id, to id, from port, to port."""
MAX_PORTS = 64
"""A node lists at most this many inputs and outputs; the last entry says how many more."""


def drawn(node: ir.Node) -> bool:
    """Whether a node is a box of its own: Constants sit inside their consumers."""
    return not is_constant_node(node) or any(o.is_graph_output() for o in node.outputs)


def record(node: ir.Node, *, group: int, opset: int) -> Record:
    """Everything the browser may show of a node."""
    entry: Record = {
        "id": node_id(node),
        "op": cut(outlined_title(node.op_type) if node.domain == OUTLINED else node.op_type, 60),
        "name": cut(node.name or "", 200),
        "cat": category(node.op_type),
        "g": group,
    }
    if node.domain:
        entry["domain"] = cut(node.domain, 60)
    if text := brief(node):
        entry["brief"] = cut(text, 40)
    if attributes := [[cut(a.name), attribute_text(a)] for a in node.attributes.values()]:
        entry["attrs"] = attributes
    inputs, outputs = _formal_names(node.domain, node.op_type, opset)
    entry["in"] = [
        _input(_formal(inputs, index), value)
        for index, value in enumerate(node.inputs[:MAX_PORTS])
        if value is not None
    ]
    entry["out"] = [
        [_formal(outputs, index), cut(value.name or ""), dtype_text(value), shape_text(value.shape)]
        for index, value in enumerate(node.outputs[:MAX_PORTS])
        if value.name or value.uses()
    ]
    if rows := _rows(entry["in"]):
        entry["rows"] = rows
    return entry


def _input(formal: str, value: ir.Value) -> list[str]:
    tensor = constant_of(value)
    if tensor is None:
        port = [formal, cut(value.name or ""), dtype_text(value), shape_text(value.shape)]
        return [*port, "input"] if value.is_graph_input() else port
    kind = "input" if value.is_graph_input() else "constant" if tensor.size <= 1 else "weight"
    return [formal, cut(value.name or ""), dtype_name(tensor.dtype), dims_text(tensor.shape), kind]


def _rows(ports: list[list[str]]) -> list[str]:
    """The quiet second row: large constants by their formal name and shape.

    Axes, shapes and pads are not weights: where they matter, `brief` has them number by number.
    """
    weights = [p for p in ports if p[-1] == "weight" and len(p) == 5 and not _numbers(p)]
    return [f"{p[0]} {p[3]}" for p in weights[:3]]


def _numbers(port: list[str]) -> bool:
    """Whether a constant is a short integer vector, as `vector_text` writes out."""
    _, _, dtype, dims, _ = port
    is_integer = dtype.lstrip("u").startswith("int")
    return is_integer and prod(int(d) for d in dims.split(TIMES) if d.isdecimal()) <= MAX_NUMBERS


def _formal(names: tuple[str, ...], index: int) -> str:
    if not names:
        return str(index)
    return names[index] if index < len(names) else f"{names[-1]}{index}"


@lru_cache(maxsize=2048)
def _formal_names(domain: str, op: str, opset: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of inputs and outputs in the operator's specification."""
    try:
        schema = onnx.defs.get_schema(op, max(opset, 1), domain)
    except onnx.defs.SchemaError:
        return (), ()
    return tuple(i.name for i in schema.inputs), tuple(o.name for o in schema.outputs)


def port_source(value: ir.Value | None) -> tuple[str, int] | None:
    """Where an edge starts: (id, port) of the producing node or graph input."""
    if value is None:
        return None
    producer = value.producer()
    if producer is not None:
        return (node_id(producer), value.index() or 0) if drawn(producer) else None
    if value.is_graph_input() and not value.is_initializer():
        return value_id(value), 0
    return None


def into_node(node: ir.Node) -> Iterator[Edge]:
    """The edges that end at a node."""
    me = node_id(node)
    for port, value in enumerate(node.inputs):
        source = port_source(value)
        if source is not None:
            yield source[0], me, source[1], port
    port = len(node.inputs)
    for body in bodies(node):
        for value in body.outputs:
            source = port_source(value)
            if source is not None:
                yield source[0], me, source[1], port
            port += 1


def into_outputs(graph: ir.Graph) -> Iterator[Edge]:
    """The edges that end at the main graph's outputs, `o0`, `o1` and so on."""
    for index, value in enumerate(graph.outputs):
        source = port_source(value)
        if source is not None:
            yield source[0], f"o{index}", source[1], 0
