"""Chains of operators that could be one: where they are in a model, or what a visitor selected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.cost.sizes import Sizes
from optimizer.errors import StudioError, quoted
from optimizer.model.graph import node_id, walk_nodes
from optimizer.passes.kernels.block import Block, blocks_of
from optimizer.rewrite.graph_at import TraceFiles, graph_at, trace_cursor
from profiling.kernels.workload import TensorSize, describe

MOST_CHAINS = 40
MOST_NODES = 24
"""Of one chain."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Equal chains of a model.

    Attributes:
        id: short, and equal for equal work.
        title: for people: `Conv 3×3 64→64 + Relu on 1×64×56×56`.
        nodes: ids of the first one's nodes, in order.
        places: how often it occurs.
        between_bytes: of the first one's results that only its own nodes read.
    """

    id: str
    title: str
    nodes: tuple[str, ...]
    places: int
    between_bytes: int


def find_chains(files: TraceFiles) -> tuple[Chain, ...]:
    """The chains of a model's source, those first that move most between their nodes."""
    model = graph_at(files, 0)
    known, sizes = known_sizes(model.graph), Sizes.of(model.graph)
    groups: dict[str, tuple[Block, str, int]] = {}
    for block in blocks_of(model.graph):
        if len(block.nodes) < 2:
            continue
        work = describe(block, known, model.opset_imports)
        if work is not None:
            first, title, places = groups.get(work.key, (block, work.title, 0))
            groups[work.key] = (first, title, places + 1)
    found = [
        Chain(f"c{key[:12]}", title, _ids(block.nodes), places, _between(block, sizes))
        for key, (block, title, places) in groups.items()
    ]
    found.sort(key=lambda chain: -chain.between_bytes * chain.places)
    return tuple(found[:MOST_CHAINS])


def known_sizes(graph: ir.Graph) -> dict[str, TensorSize]:
    """Sizes of all values by name, free dimensions as they are taken to be."""
    sizes, found = Sizes.of(graph), dict[str, TensorSize]()
    values = [value for node in graph for value in (*node.inputs, *node.outputs)]
    for value in values:
        shape = sizes.shape(value)
        if value is not None and value.name and value.dtype is not None and shape is not None:
            found[value.name] = TensorSize(value.dtype.name, shape)
    return found


def block_at(
    files: TraceFiles, nodes: Sequence[str], steps: Sequence[int]
) -> tuple[Block, ir.Model]:
    """These nodes as a block, at the first of these steps whose graph has all of them.

    Raises:
        StudioError: no step has them, or they are no chain; the message says why.
    """
    with trace_cursor(files) as cursor:
        for step in steps:
            model = cursor.seek(min(step, cursor.trace.steps))
            here = {node_id(node) for node in walk_nodes(model.graph)}
            if here.issuperset(nodes):
                return chain_of(model.graph, nodes), model
    raise StudioError("The selected nodes are not in one graph; select a chain of one step.")


def chain_of(graph: ir.Graph, nodes: Sequence[str]) -> Block:
    """These nodes of the main graph as a block.

    Raises:
        StudioError: they are too few or too many, or more than one result is used outside.
    """
    wanted = set(nodes)
    chosen = [n for n in graph if node_id(n) in wanted and not is_constant_node(n)]
    if len(chosen) < 2:
        raise StudioError("Select at least two nodes of the main graph that feed each other.")
    if len(chosen) > MOST_NODES:
        raise StudioError(f"{len(chosen)} nodes are selected; a chain has at most {MOST_NODES}.")
    for node in chosen[:-1]:
        if any(_outside(output, chosen) for output in node.outputs):
            raise StudioError(
                f"What {quoted(node.op_type)} computes is used outside of the selection as well, or"
                " not in it; select nodes of which only the last one's result is used elsewhere."
            )
    return Block(chosen[0].op_type, tuple(chosen))


def _outside(value: ir.Value, chosen: Sequence[ir.Node]) -> bool:
    """Whether anybody but these nodes needs a value; also true where nobody does."""
    readers = [use.node for use in value.uses()]
    if not readers:
        return bool(value.name) and value is value.producer().outputs[0]  # pyright: ignore[reportOptionalMemberAccess] - of a node's output
    return value.is_graph_output() or any(reader not in chosen for reader in readers)


def _between(block: Block, sizes: Sizes) -> int:
    return sum(sizes.size_bytes(node.outputs[0]) or 0 for node in block.nodes[:-1])


def _ids(nodes: Iterable[ir.Node]) -> tuple[str, ...]:
    return tuple(node_id(node) for node in nodes)
