"""What a whole graph costs, and how much memory its activations need at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.constants import constant_tensor, is_constant_node
from optimizer.cost.node import node_cost
from optimizer.cost.sizes import Sizes
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.pieces import pieces_of, walk
from optimizer.memory.program import Program, read_program
from optimizer.model.graph import walk_graphs, walk_nodes

_COUNTED = LifetimeOptions(views=True, in_place=False, alignment=1)


@dataclass(frozen=True, slots=True)
class GraphCost:
    """Totals over a graph and its bodies; a body counts once, however often it would run.

    Attributes:
        flops: operations; a multiply-accumulate counts 2.
        bytes_read: bytes read by all nodes.
        bytes_written: bytes written by all nodes.
        weight_bytes: all constants, each once.
        peak_activation_bytes: the most that is alive at once when the nodes run in list order;
            inputs and weights are not counted, views share what they look at.
        nodes: nodes that were counted, Constant nodes left out.
        unknown_nodes: how many of them have no known cost and are missing in the totals.
        assumed: the sizes taken for free dimensions.
    """

    flops: int
    bytes_read: int
    bytes_written: int
    weight_bytes: int
    peak_activation_bytes: int
    nodes: int
    unknown_nodes: int
    assumed: Mapping[str, int] = field(default_factory=dict[str, int])


def graph_cost(graph: ir.Graph, given: Mapping[str, int] | None = None) -> GraphCost:
    """The cost of a graph.

    Args:
        graph: with inferred shapes; what has none counts as unknown.
        given: sizes of free dimensions by name; see `Sizes` for those not given.
    """
    sizes = Sizes.of(graph, given)
    nodes = [node for node in walk_nodes(graph) if not is_constant_node(node)]
    costs = [node_cost(node, sizes) for node in nodes]
    known = [cost for cost in costs if cost is not None]
    return GraphCost(
        flops=sum(cost.flops for cost in known),
        bytes_read=sum(cost.bytes_read for cost in known),
        bytes_written=sum(cost.bytes_written for cost in known),
        weight_bytes=_weight_bytes(graph),
        peak_activation_bytes=peak_activation_bytes(graph, sizes),
        nodes=len(nodes),
        unknown_nodes=len(costs) - len(known),
        assumed=dict(sizes.assumed),
    )


def _weight_bytes(graph: ir.Graph) -> int:
    """Bytes of all initializers and Constant nodes; a tensor shared by several counts once."""
    tensors: dict[int, int] = {}
    for current in walk_graphs(graph):
        for value in current.initializers.values():
            if value.const_value is not None:
                tensors[id(value.const_value)] = value.const_value.nbytes
    total = sum(tensors.values())
    for node in walk_nodes(graph):
        if is_constant_node(node) and (tensor := constant_tensor(node)) is not None:
            total += tensor.nbytes
    return total


def peak_activation_bytes(graph: ir.Graph, sizes: Sizes | None = None) -> int:
    """The most bytes alive at once when the nodes run in list order.

    A value lives from its node to its last use; graph outputs live to the end. What the
    largest body needs comes on top while its owner runs. Values of unknown size count as nothing;
    `optimizer.memory.lifetimes` tells them.
    """
    return _peak_bytes(read_program(graph, sizes or Sizes.of(graph)))


def _peak_bytes(program: Program) -> int:
    inside: dict[int, int] = {}
    for owner, body in program.bodies:
        inside[owner] = max(inside.get(owner, 0), _peak_bytes(body))
    moments = walk(pieces_of(program, _COUNTED, outputs=True), range(len(program.operations)))
    return max((m.live_bytes + inside.get(m.operation, 0) for m in moments), default=0)
