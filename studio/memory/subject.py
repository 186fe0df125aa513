"""In a worker: the graph of a step, its order, its arena."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.errors import StudioError, quoted
from optimizer.isolation import within_worker
from optimizer.memory.arena import Arena
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import ORDERS, Method, Order, reorder
from optimizer.memory.registry import Budget
from optimizer.memory.sizes import KnownSizes
from optimizer.model.binding import bind_dimensions
from optimizer.model.graph import Model, bodies, node_id, value_id, walk_nodes
from optimizer.model.shapes import infer_shapes
from optimizer.rewrite.graph_at import TraceFiles, graph_at, own_graph_at
from studio.graphview.categories import category
from studio.graphview.text import cut
from studio.memory.arena_map import NodeLabel
from studio.memory.request import ArenaRequest

SIZE = 1
"""What a free dimension is taken to be until somebody sets it; a total is past and new together."""

ORDER_SECONDS = 5.0
"""For the exact order when only its lanes are asked for."""


def open_step(files: TraceFiles, request: ArenaRequest) -> ir.Model:
    """The graph of a step, with shapes as far as the sizes of a request make them known.

    Raises:
        StudioError: the model or the trace cannot be read.
    """
    return with_sizes(graph_at(files, request.step), files, request)


def with_sizes(model: ir.Model, files: TraceFiles, request: ArenaRequest) -> ir.Model:
    """A step's graph, or one of its own with the sizes of a request bound, where it lacks them.

    A size that two dimensions agree on only in numbers (a mask as long as past and present
    together) is found by inferring the shapes once more, with the numbers.

    Raises:
        StudioError: the trace cannot be read.
    """
    if not request.sizes or not lacks_sizes(model.graph, dict(request.sizes)):
        return model
    bound = own_graph_at(files, request.step).ir
    for name, size in request.sizes:
        with suppress(StudioError):  # this step may no longer have the dimension
            bind_dimensions(bound, {name: size})
    infer_shapes(model_of(bound), isolate=within_worker)
    return bound


def lacks_sizes(graph: ir.Graph, sizes: Mapping[str, int]) -> bool:
    """Whether the bytes of some value of a node are unknown with these sizes."""
    known = KnownSizes(graph, sizes)
    return any(
        known.size_bytes(value) is None
        for node in walk_nodes(graph)
        for value in node.outputs
        if value.uses() and isinstance(value.type, ir.TensorType)
    )


def planned_arena(files: TraceFiles, request: ArenaRequest) -> tuple[Arena, str]:
    """The arena that a request describes, and what its order has to say.

    Raises:
        StudioError: the model or the trace cannot be read, or there is no such order.
    """
    return arena_of(open_step(files, request).graph, request)


def model_of(model: ir.Model) -> Model:
    """A step's graph as a model."""
    return Model(model, name="", digest="")


def find_order(graph: ir.Graph, request: ArenaRequest, *, seconds: float = ORDER_SECONDS) -> Order:
    """The order that a request names.

    Raises:
        StudioError: there is no such method, or sizes are unknown.
    """
    if request.order not in ORDERS:
        names = ", ".join(ORDERS)
        raise StudioError(f"There is no order {quoted(request.order)}; there are {names}.")
    return reorder(
        graph,
        cast("Method", request.order),
        options=request.options,
        sizes=dict(request.sizes),
        budget=Budget(seconds),
    )


def arena_of(graph: ir.Graph, request: ArenaRequest) -> tuple[Arena, str]:
    """The arena that a request describes, and what its order has to say.

    Where sizes are unknown the nodes keep their order: no other can be found.

    Raises:
        StudioError: there is no such order.
    """
    sizes = dict(request.sizes)
    arena = lifetimes(graph, request.options, sizes=sizes)
    if request.order == "file" or arena.unknown:
        return arena, ""
    order = find_order(graph, request)
    return lifetimes(graph, request.options, order=order.nodes, sizes=sizes), order.note


def free_dimensions(graph: ir.Graph, given: Mapping[str, int]) -> dict[str, int]:
    """Free dimensions by name, with the size in use, or the one that is proposed: `SIZE`."""
    sizes = Sizes.of(graph, given, other=SIZE)
    for value in graph.inputs:
        sizes.shape(value)
    for node in walk_nodes(graph):
        for value in node.outputs:
            sizes.shape(value)
    return dict(sizes.assumed)


def labels(graph: ir.Graph) -> Iterator[tuple[str, NodeLabel]]:
    """The nodes of a graph by id."""
    for node in graph:
        yield node_id(node), label_of(node)


def label_of(node: ir.Node) -> NodeLabel:
    """A node as people know it."""
    return NodeLabel(cut(node.op_type, 60), cut(node.name or ""), category(node.op_type))


def value_names(graph: ir.Graph) -> dict[str, str]:
    """Display names of all values of a graph that a node makes, by id."""
    return {value_id(v): cut(v.name or "") for node in graph for v in node.outputs}


def body_graphs(graph: ir.Graph) -> dict[str, tuple[ir.Node, ir.Graph]]:
    """The bodies right below a graph, each with the node that owns it, by their id."""
    return {cast("str", body.meta["id"]): (node, body) for node in graph for body in bodies(node)}
