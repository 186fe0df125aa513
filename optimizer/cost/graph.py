"""What a whole graph costs, and how much memory its activations need at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.cost.node import VIEWS, Cost, node_cost
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import bodies, is_constant_node, walk_graphs, walk_nodes
from optimizer.model.operators.call import constant_tensor


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
    sizes = Sizes(given)
    nodes = [node for node in walk_nodes(graph) if not is_constant_node(node)]
    costs = [node_cost(node, sizes) for node in nodes]
    total = Cost()
    for cost in costs:
        total = total if cost is None else total + cost
    return GraphCost(
        flops=total.flops,
        bytes_read=total.bytes_read,
        bytes_written=total.bytes_written,
        weight_bytes=_weight_bytes(graph),
        peak_activation_bytes=peak_activation_bytes(graph, sizes),
        nodes=len(nodes),
        unknown_nodes=sum(cost is None for cost in costs),
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
    largest body needs comes on top while its owner runs. Values of unknown size count as nothing.
    """
    sizes = sizes or Sizes()
    owner = _owners(graph)
    last = _last_uses(graph, owner)
    alive = peak = 0
    freed: dict[int, int] = {}
    for position, node in enumerate(graph):
        for value in node.outputs:
            if owner.get(value) is value:
                size = sizes.size_bytes(value) or 0
                alive += size
                end = last.get(value, position)
                freed[end] = freed.get(end, 0) + size
        inside = max((peak_activation_bytes(body, sizes) for body in bodies(node)), default=0)
        peak = max(peak, alive + inside)
        alive -= freed.pop(position, 0)
    return peak


def _owners(graph: ir.Graph) -> dict[ir.Value, ir.Value]:
    """For each value made by a node, the value whose memory it uses; weights have no owner."""
    owner: dict[ir.Value, ir.Value] = {}
    for node in graph:
        if is_constant_node(node):
            continue
        if node.op_type in VIEWS and not node.domain and node.op_type not in ("Shape", "Size"):
            source = node.inputs[0] if node.inputs else None
            if source is not None and source in owner:
                owner[node.outputs[0]] = owner[source]
            continue
        owner.update((value, value) for value in node.outputs)
    return owner


def _last_uses(graph: ir.Graph, owner: Mapping[ir.Value, ir.Value]) -> dict[ir.Value, int]:
    """Position of the last node that needs a value's memory, uses inside bodies included."""
    last: dict[ir.Value, int] = {}
    position = -1
    for position, node in enumerate(graph):
        used = list(node.inputs)
        for body in bodies(node):
            used += [value for inner in walk_nodes(body) for value in inner.inputs]
            used += [value for inner in walk_graphs(body) for value in inner.outputs]
        for value in used:
            if value is not None and value in owner:
                last[owner[value]] = position
    for value in graph.outputs:
        if value in owner:
            last[owner[value]] = position + 1
    return last
