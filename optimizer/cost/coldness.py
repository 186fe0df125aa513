"""How much of what a launch reads lies far when it begins.

That is the code of its operator and its operands, a few bytes each for data and shape. They lie
near unless what ran since they were last read swept them away. Nodes count in the order in which
ONNX Runtime runs them, and one run follows the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, inf

import onnx_ir as ir

from optimizer.cost.node import Cost
from optimizer.model.graph import bodies, node_id
from optimizer.runtime.order import runtime_order

_AGE = 12
"""What was read before so many times the near level passed is gone to 63 %."""


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
    age = 0.0
    for _ in range(2):  # the second run finds what the first one left
        for node in nodes:
            identity = node_id(node)
            things = [node.op_type, *(value for value in node.inputs if value is not None)]
            found[identity] = sum(1 - exp(read.get(one, -inf) - age) for one in things)
            read |= dict.fromkeys([*things, *node.outputs], age)
            if identity in costs:
                age += costs[identity].bytes_moved / (_AGE * max(1, near_bytes))
    return found


def _in_order(graph: ir.Graph) -> Iterator[ir.Node]:
    nodes = {node_id(node): node for node in graph}
    for identity in runtime_order(graph):
        node = nodes[identity]
        yield node
        for body in bodies(node):
            yield from _in_order(body)
