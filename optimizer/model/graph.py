"""The in-memory model: ONNX's own IR plus stable ids.

Ids are given once, in document order, and kept for life in `meta["id"]`: nodes `n0`, `n1`, …
(depth first into bodies), graph inputs `i0`, …, initializers `w0`, …, other values
`<node id>:<output index>`, graphs `g0` (main), `g1`, …. ONNX names are display text only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

import onnx_ir as ir

from optimizer.findings import Finding, Statuses

ID = "id"
_GRAPH, _GRAPHS = ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS


@dataclass(slots=True)
class Model:
    """An opened model.

    Attributes:
        ir: the graph itself; only a `Rewriter` changes it.
        name: display text, from the file name.
        digest: sha256 (hex) of the file the model was read from.
        findings: everything the loader had to say.
        statuses: viewable, optimizable, runnable, each with its reason.
        bindings: dimensions bound to a size when the model was opened.
    """

    ir: ir.Model
    name: str
    digest: str
    findings: tuple[Finding, ...] = ()
    statuses: Statuses = field(default_factory=Statuses)
    bindings: Mapping[str, int] = field(default_factory=dict[str, int])


def node_id(node: ir.Node) -> str:
    """The stable id of a node."""
    return node.meta.data[ID]  # pyright: ignore[reportUnknownVariableType] - a cast takes as long again


def value_id(value: ir.Value) -> str:
    """The stable id of a value."""
    return value.meta.data[ID]  # pyright: ignore[reportUnknownVariableType] - a cast takes as long again


def graph_id(graph: ir.Graph) -> str:
    """The stable id of a graph or body."""
    return cast("str", graph.meta[ID])


def bodies(node: ir.Node) -> Iterator[ir.Graph]:
    """The graphs a node carries in its attributes (If, Loop, Scan, …)."""
    for attribute in node.attributes.data.values():  # asked of all nodes: a view of it is slow
        kind = attribute.type
        if kind == _GRAPH:
            yield attribute.as_graph()
        elif kind == _GRAPHS:
            yield from attribute.as_graphs()


def walk_graphs(graph: ir.Graph) -> Iterator[ir.Graph]:
    """`graph` and every body below it, in document order."""
    stack = [graph]
    while stack:
        current = stack.pop()
        yield current
        carriers = (node for node in current if node.attributes.data)
        stack.extend(reversed([body for node in carriers for body in bodies(node)]))


def walk_nodes(graph: ir.Graph) -> Iterator[ir.Node]:
    """Every node of `graph` and its bodies, in document order (a body follows its owner)."""
    stack = [iter(graph)]
    while stack:
        for node in stack[-1]:
            yield node
            inner = [*bodies(node)] if node.attributes.data else []
            if inner:
                stack.extend(iter(body) for body in reversed(inner))
                break
        else:
            stack.pop()


def count_nodes(graph: ir.Graph) -> int:
    """Nodes of `graph` and its bodies; Constant nodes do not count."""
    return sum(node.op_type != "Constant" or bool(node.domain) for node in walk_nodes(graph))


def identify(model: ir.Model) -> None:
    """Give every graph, node and value of the model its id."""
    weights = 0
    for graph_index, graph in enumerate(walk_graphs(model.graph)):
        graph.meta[ID] = f"g{graph_index}"
        prefix = "" if graph_index == 0 else f"g{graph_index}."
        for index, value in enumerate(graph.inputs):
            value.meta[ID] = f"{prefix}i{index}"
        # By name, as the writer orders them: a trace must find the same ids in the written source.
        for value in sorted(graph.initializers.values(), key=lambda value: value.name or ""):
            if ID not in value.meta:  # an overridable initializer already has its input's id
                value.meta[ID] = f"w{weights}"
                weights += 1
    for index, node in enumerate(walk_nodes(model.graph)):
        node.meta[ID] = f"n{index}"
        for position, output in enumerate(node.outputs):
            output.meta[ID] = f"n{index}:{position}"


def use_count(value: ir.Value) -> int:
    """How often nodes read the value, in constant time: `uses` copies them all."""
    return len(value._uses)  # pyright: ignore[reportPrivateUsage] - a cast takes as long again


def readers(value: ir.Value) -> Iterator[ir.Node]:
    """The nodes that read the value, once for each input; nothing may change meanwhile.

    Whoever stops at the first has not paid for a copy of them all, as `uses` makes one.
    """
    return (use.node for use in value._uses)  # pyright: ignore[reportPrivateUsage] - as above


def is_used(value: ir.Value) -> bool:
    """Whether a node reads the value or a graph returns it."""
    return use_count(value) > 0 or value.is_graph_output()


def given_outputs(node: ir.Node) -> int:
    """How many outputs a node has, without those at the end that were left out.

    One that nobody reads counts: a Split makes as many parts as it has outputs, and
    BatchNormalization in training needs all of its own.
    """
    given = [index for index, value in enumerate(node.outputs) if value.name or is_used(value)]
    return given[-1] + 1 if given else len(node.outputs)
