"""Where the data of a node lie, how long it takes to fetch and to leave them, and what lies far.

How much of what a launch reads lies far when it begins: that is the code of its operator and its
operands, a few bytes each for data and shape. They lie near unless what ran since they were last
read swept them away. Nodes count in the order in which ONNX Runtime runs them, and one run follows
the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, inf

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.cost.classes import MOVING, PER_ELEMENT, OperatorClass
from optimizer.cost.device import DeviceProfile
from optimizer.cost.node import VIEWS, Cost
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import bodies, node_id
from optimizer.operators.catalogue import operator_of
from optimizer.runtime.order import runtime_order


def packing_s(node: ir.Node, kind: OperatorClass, sizes: Sizes, device: DeviceProfile) -> float:
    """Seconds to lay out a right side that is no constant; a single row needs none."""
    if device.packing is None or kind != OperatorClass.GEMM or len(node.inputs) < 2:
        return 0.0
    right, out = node.inputs[1], sizes.shape(node.outputs[0])
    if right is None or constant_of(right) is not None or not out or out[-2:-1] == (1,):
        return 0.0
    size_bytes = sizes.size_bytes(right)
    return size_bytes / device.packing.at(size_bytes) if size_bytes else 0.0


def traffic_s(
    node: ir.Node, kind: OperatorClass, cost: Cost, device: DeviceProfile, width: float,
    weight_bytes: int,
) -> tuple[float, float]:  # fmt: skip
    """Seconds to read and to write.

    A node finds in the level that holds its own tensors what an elementwise operator has just
    written. Farther off, in the level that holds the weights of the graph, are those weights, what
    is computed from them alone, and what a product or a convolution wrote: it reads so much
    between two lines of its output that they are gone.

    Args:
        node: of a graph.
        kind: its class.
        cost: what it reads and writes.
        device: where it runs.
        width: see `width_of`.
        weight_bytes: those of the whole graph.
    """
    activations, written = cost.bytes_read - cost.weight_bytes, cost.bytes_written
    in_place = kind in PER_ELEMENT and _runs_in_place(node)
    own = cost.weight_bytes + (max(activations, written) if in_place else activations + written)
    near, far = device.level(own), device.level(max(weight_bytes, own))
    source = far if _reads_a_product(node) else near
    target = near if activations or not cost.weight_bytes else far
    if kind not in MOVING:
        read = activations / source.bytes_per_s + cost.weight_bytes / far.bytes_per_s
        return read, written / target.writing
    curve = device.operators.get(node.op_type, device.strided.get(kind))
    pace = near.bytes_per_s if curve is None else curve.at(width)
    distant = activations * (1 / source.bytes_per_s - 1 / near.bytes_per_s)
    distant += cost.weight_bytes * (1 / far.bytes_per_s - 1 / near.bytes_per_s)
    distant_write = written * (1 / target.writing - 1 / near.writing)
    return (activations + cost.weight_bytes) / pace + distant, written / pace + distant_write


def _reads_a_product(node: ir.Node) -> bool:
    """Whether an operand comes from a product or a convolution, maybe through views."""
    for value in node.inputs:
        maker = None if value is None else value.producer()
        while maker is not None and maker.op_type in VIEWS and maker.inputs and maker.inputs[0]:
            maker = maker.inputs[0].producer()
        operator = None if maker is None else operator_of(maker)
        if operator is not None and operator.product:
            return True
    return False


def _runs_in_place(node: ir.Node) -> bool:
    """Whether it may write over an input that nobody else needs."""
    out = node.outputs[0]
    return any(
        value is not None
        and value.producer() is not None
        and len(value.uses()) == 1
        and not value.is_graph_output()
        and value.shape == out.shape
        and value.dtype == out.dtype
        for value in node.inputs
    )


_AGE = 12
"""What was read before so many times the near level passed is gone to 63 %."""

_ANOTHER = 0.25
"""So much farther lies an operator's code right after another's."""


def far_reads(graph: ir.Graph, costs: Mapping[str, Cost], near_bytes: int) -> dict[str, float]:
    """How many of the things that a launch reads lie far, for each node, by id.

    Args:
        graph: with ids; its bodies are included, constants are not.
        costs: by node id; nodes without one count as if they moved nothing.
        near_bytes: what the near level holds.
    """
    nodes = list(_in_order(graph))
    found: dict[str, float] = {}
    read: dict[str | ir.Value, float] = {}
    age, before = 0.0, ""
    for _ in range(2):  # the second run finds what the first one left
        for node in nodes:
            identity = node_id(node)
            things = [node.op_type, *(value for value in node.inputs if value is not None)]
            far = sum(1 - exp(read.get(one, -inf) - age) for one in things)
            far += _ANOTHER * (node.op_type != before)
            found[identity], before = far, node.op_type
            read |= dict.fromkeys([*things, *node.outputs], age)
            age += costs.get(identity, Cost()).bytes_moved / (_AGE * max(1, near_bytes))
    return found


def _in_order(graph: ir.Graph) -> Iterator[ir.Node]:
    nodes = {node_id(node): node for node in graph}
    for identity in runtime_order(graph):
        node = nodes[identity]
        yield node
        for body in bodies(node):
            yield from _in_order(body)
