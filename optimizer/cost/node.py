"""What one node costs: floating-point operations and bytes moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import is_used, node_id, walk_nodes
from optimizer.operators.call import Call
from optimizer.operators.catalogue import CATALOGUE, STANDARD, operator_of
from optimizer.operators.flops import per_element
from optimizer.operators.operator import OperatorClass

VIEWS = frozenset(
    name for (domain, name), op in CATALOGUE.items() if op.result != "new" and not domain
)
"""Operators that give their input another shape or look at it, without touching the data."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Arithmetic and traffic, in numbers that add up.

    Attributes:
        flops: floating-point (or integer) operations; a multiply-accumulate counts 2.
        bytes_read: bytes of all different inputs, weights included.
        bytes_written: bytes of all outputs.
        weight_bytes: the part of `bytes_read` that is constant.
    """

    flops: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    weight_bytes: int = 0

    @property
    def bytes_moved(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    def __add__(self, other: Cost) -> Cost:
        """Both together."""
        return Cost(
            self.flops + other.flops,
            self.bytes_read + other.bytes_read,
            self.bytes_written + other.bytes_written,
            self.weight_bytes + other.weight_bytes,
        )


def node_cost(node: ir.Node, sizes: Sizes | None = None) -> Cost | None:
    """The cost of one node by itself; None where a shape or the operator is unknown.

    Views and control flow cost nothing; Gather, Slice and Split read only what they produce.
    """
    operator = operator_of(node)
    if is_view(node) or (operator is not None and operator.kind == OperatorClass.CONTROL):
        return Cost()
    formula = None if operator is None else operator.flops
    if formula is None:
        if node.domain not in STANDARD:
            return None
        formula = per_element
    sizes = sizes or Sizes()
    written = _total(sizes, (value for value in node.outputs if _is_used(value)))
    inputs = dict.fromkeys(value for value in node.inputs if value is not None)
    read = _total(sizes, inputs)
    if written is None or read is None:
        return None
    flops = formula(Call(node, sizes.fact))
    if flops is None:
        return None
    weights = _total(sizes, (value for value in inputs if constant_of(value) is not None)) or 0
    if operator is not None and operator.picks:
        read = min(read, written)
        weights = min(weights, read)
    return Cost(flops, read, written, weights)


def node_costs(graph: ir.Graph, sizes: Sizes) -> dict[str, Cost]:
    """The costs that are known, of a graph with ids and its bodies, by node id."""
    nodes = [node for node in walk_nodes(graph) if not is_constant_node(node)]
    costs = {node_id(node): node_cost(node, sizes) for node in nodes}
    return {identity: cost for identity, cost in costs.items() if cost is not None}


def is_view(node: ir.Node) -> bool:
    """Whether the data stay as they are: a view, or a Cast to the type that its input has."""
    if node.domain not in STANDARD:
        return False
    if node.op_type != "Cast" or not node.inputs or node.inputs[0] is None:
        return node.op_type in VIEWS
    dtype = node.inputs[0].dtype
    return dtype is not None and dtype == node.outputs[0].dtype


def _is_used(value: ir.Value) -> bool:
    return is_used(value) or value.graph is None


def _total(sizes: Sizes, values: Iterator[ir.Value] | dict[ir.Value, None]) -> int | None:
    total = 0
    for value in values:
        size = sizes.size_bytes(value)
        if size is None:
            return None
        total += size
    return total
