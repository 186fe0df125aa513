"""In a worker: the graph of a step, its order, its arena."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import onnx_ir as ir

from optimizer.cost import graph_cost
from optimizer.cost.sizes import Sizes
from optimizer.errors import StudioError, quoted
from optimizer.memory.arena import Arena
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import ORDERS, Method, Order, reorder
from optimizer.memory.registry import Budget
from optimizer.model.graph import Model, bodies, node_id, value_id, walk_nodes
from optimizer.model.loader import load_path
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import open_trace_over
from studio.graphview.categories import category
from studio.graphview.text import cut
from studio.jobs import SOURCE, TRACE
from studio.planning.arena_map import NodeLabel
from studio.planning.request import ArenaRequest

ORDER_SECONDS = 5.0
"""For the exact order when only its lanes are asked for."""


def open_trace(folder: Path, run_folder: Path) -> Cursor:
    """A run's trace at its source.

    Args:
        folder: of the model in the store.
        run_folder: of the run.

    Raises:
        StudioError: the model or the trace cannot be read.
    """
    return open_trace_over(run_folder / TRACE, load_path(folder / SOURCE).ir)


def open_step(folder: Path, run_folder: Path, request: ArenaRequest) -> ir.Model:
    """The graph of a step, with shapes as far as the sizes of a request make them known.

    Raises:
        StudioError: the model or the trace cannot be read.
    """
    return open_trace(folder, run_folder).seek(request.step)


def planned_arena(folder: Path, run_folder: Path, request: ArenaRequest) -> tuple[Arena, str]:
    """The arena that a request describes, and what its order has to say.

    Raises:
        StudioError: the model or the trace cannot be read, or there is no such order.
    """
    return arena_of(open_step(folder, run_folder, request).graph, request)


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
    """Free dimensions by name, with the size that is proposed for each."""
    assumed = dict(graph_cost(graph, given).assumed)
    sizes = Sizes(given)
    for node in walk_nodes(graph):
        for value in node.outputs:
            sizes.shape(value)
    return {**assumed, **sizes.assumed}


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
