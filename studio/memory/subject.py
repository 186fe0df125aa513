"""Which arena is looked at; in a worker: the graph of its step, its order, the arena."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.errors import StudioError
from optimizer.isolation import within_worker
from optimizer.memory.arena import Arena, LifetimeOptions
from optimizer.memory.order import ordered_arena
from optimizer.memory.registry import Budget
from optimizer.memory.sizes import KnownSizes
from optimizer.model.binding import bind_dimensions
from optimizer.model.graph import Model, node_id, walk_nodes
from optimizer.model.shapes import infer_shapes
from optimizer.rewrite.graph_at import TraceFiles, graph_at, own_graph_at
from studio.graphview.categories import category
from studio.graphview.text import cut
from studio.memory.arena_map import NodeLabel

ORDER_SECONDS = 5.0
"""For the exact order when only its lanes are asked for."""


@dataclass(frozen=True, slots=True)
class ArenaRequest:
    """One arena of an open run; plain data that travels to a worker and names files in the store.

    Attributes:
        step: of the trace; 0 is the source.
        options: what may share memory, and how it is aligned.
        order: id of the method that orders the nodes; "file" leaves them as they are.
        sizes: of free dimensions; what is not among them stays unknown.
    """

    step: int
    options: LifetimeOptions = field(default_factory=LifetimeOptions)
    order: str = "file"
    sizes: tuple[tuple[str, int], ...] = ()


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


def model_of(model: ir.Model) -> Model:
    """A step's graph as a model."""
    return Model(model, name="", digest="")


def arena_of(graph: ir.Graph, request: ArenaRequest) -> tuple[Arena, str]:
    """The arena that a request describes, and what its order has to say.

    Raises:
        StudioError: there is no such order.
    """
    return ordered_arena(
        graph,
        request.order,
        options=request.options,
        sizes=dict(request.sizes),
        budget=Budget(ORDER_SECONDS),
    )


def free_dimensions(graph: ir.Graph, given: Mapping[str, int]) -> dict[str, int]:
    """Free dimensions by name, with the size in use, or the one that is assumed on paper."""
    sizes = Sizes.of(graph, given)
    for value in graph.inputs:
        sizes.shape(value)
    for node in walk_nodes(graph):
        for value in node.outputs:
            sizes.shape(value)
    return dict(sizes.assumed)


def labels(graph: ir.Graph) -> dict[str, NodeLabel]:
    """The nodes of a graph and its bodies as people know them, by id."""
    return {
        node_id(node): NodeLabel(
            cut(node.op_type, 60), cut(node.name or ""), category(node.op_type)
        )
        for node in walk_nodes(graph)
    }
