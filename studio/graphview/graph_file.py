"""A whole graph as `passlens.graph/1`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import onnx_ir as ir

from optimizer.model.graph import bodies, graph_id, node_id, value_id, walk_nodes
from optimizer.model.scopes import scope_path
from studio.graphview.groups import Groups, is_source, readers_scope
from studio.graphview.records import Record, drawn, into_node, into_outputs, record
from studio.graphview.text import cut, dtype_text, shape_text

SCHEMA = "passlens.graph/1"


def in_drawing_order(graph: ir.Graph) -> Iterator[ir.Node]:
    """Every node, bodies before their owner, so that every edge points forward."""
    stack: list[tuple[Iterator[ir.Node], ir.Node | None]] = [(iter(graph), None)]
    while stack:
        nodes, owner = stack[-1]
        node = next(nodes, None)
        if node is None:
            stack.pop()
            if owner is not None:
                yield owner
            continue
        inner = list(bodies(node))
        if inner:
            stack.append((chain.from_iterable(inner), node))
        else:
            yield node


def beside_readers(nodes: list[ir.Node]) -> list[ir.Node]:
    """The same nodes; those without a scope, into which nothing flows, right before a reader."""
    places = {node_id(node): place for place, node in enumerate(nodes)}

    def key(node: ir.Node) -> float:
        place = places[node_id(node)]
        if scope_path(node) or not readers_scope(node) or not is_source(node):
            return place
        readers = [node_id(use.node) for output in node.outputs for use in output.uses()]
        return min((places[i] - 0.5 for i in readers if i in places), default=place)

    return sorted(nodes, key=key)


def groups_of(graph: ir.Graph) -> Groups:
    """The groups of all nodes that are drawn, numbered in drawing order."""
    owners = {graph_id(body): node for node in walk_nodes(graph) for body in bodies(node)}
    groups = Groups(owners)
    for node in in_drawing_order(graph):
        if drawn(node):
            groups.of(node)
    return groups


def graph_json(graph: ir.Graph, *, key: str, name: str, groups: Groups) -> dict[str, Any]:
    """The graph without its weights."""
    opsets = graph.opset_imports
    nodes = beside_readers([node for node in in_drawing_order(graph) if drawn(node)])
    main = graph_id(graph)
    entries: list[Record] = []
    for node in nodes:
        entry = record(node, group=groups.of(node), opset=opsets.get(node.domain, 1))
        home = node.graph
        if isinstance(home, ir.Graph) and graph_id(home) != main:
            entry["body"] = graph_id(home)
        entries.append(entry)
    return {
        "schema": SCHEMA,
        "key": key,
        "name": cut(name),
        "nodes": entries,
        "inputs": [_port(v, value_id(v)) for v in graph.inputs if not v.is_initializer()],
        "outputs": [_port(v, f"o{i}") for i, v in enumerate(graph.outputs)],
        "edges": [edge for node in nodes for edge in into_node(node)] + list(into_outputs(graph)),
        "groups": groups.entries,
    }


def _port(value: ir.Value, identity: str) -> dict[str, str]:
    return {
        "id": identity,
        "name": cut(value.name or ""),
        "dtype": dtype_text(value),
        "shape": shape_text(value.shape),
    }
