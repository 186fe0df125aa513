"""Regions: parts of a graph that share one precision.

A region ends where a single value flows on: after a convolution of a chain, after the sum of a
residual block, after each half of a transformer's layer. What lies between its products belongs to
it, so that a region in integers can stay in integers. Values that no product made, such as masks,
do not count, nor do numbers that are no floats, such as sizes.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.cost.devices import CORTEX_X4
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import node_id

Kind = Literal["convolutions", "matrix products", "both", "embeddings"]

MOST_REGIONS = 24
"""Neighbours are put together until there are no more: each is one question to the model."""

_MOST_PRODUCTS = 8
"""Where no value flows alone, as between the scales of a detector, regions end after so many."""

_LEAST_TABLE = 1 << 14
"""Elements of a table that is worth fewer bits."""

_CONVOLUTIONS = ("Conv", "ConvTranspose")
_PRODUCTS = (*_CONVOLUTIONS, "MatMul", "Gemm")


@dataclass(frozen=True, slots=True)
class Region:
    """One part.

    Attributes:
        title: what the names of its nodes have in common, or the first and the last of them.
        nodes: their names, in the graph's order.
        products: operators with constant weights, and how many of each.
        weight_bytes: of these, as float32.
        share: of the predicted time of all regions; it tells them apart, and claims no speed.
    """

    title: str
    kind: Kind
    nodes: tuple[str, ...]
    products: Mapping[str, int]
    weight_bytes: int
    share: float


@dataclass(frozen=True, slots=True)
class _Part:
    nodes: list[ir.Node]
    seconds: float

    def __add__(self, other: _Part) -> _Part:
        return _Part(self.nodes + other.nodes, self.seconds + other.seconds)


def regions_of(graph: ir.Graph, *, most: int = MOST_REGIONS) -> tuple[Region, ...]:
    """The regions of a graph in its order, embeddings first; none where nothing has weights.

    Control flow's bodies stay as they are.

    Args:
        graph: with ids and shapes, as it was loaded.
        most: regions with products.
    """
    predicted = predict_graph(graph, Sizes.of(graph), CORTEX_X4)
    seconds = {one.node: one.parts.total_us for one in predicted.nodes}
    tables = [node for node in graph if _table(node) is not None]
    parts = [
        _Part(nodes, sum(seconds.get(node_id(node), 0.0) for node in nodes))
        for nodes in _with_products(_between_cuts(graph))
    ]
    parts = _at_most(parts, most)
    if tables:
        parts = [_Part(tables, sum(seconds.get(node_id(node), 0.0) for node in tables)), *parts]
    total = math.fsum(part.seconds for part in parts) or 1.0
    return _told_apart([_region(p, total, embeddings=p.nodes is tables) for p in parts])


def weight_of(node: ir.Node) -> ir.TensorProtocol | None:
    """The constant float32 weights of a product; None for everything else."""
    if node.domain or node.op_type not in _PRODUCTS or len(node.inputs) < 2:
        return None
    weight = constant_of(node.inputs[1])
    if weight is None or weight.dtype != ir.DataType.FLOAT or len(weight.shape) < 2:
        return None
    return weight


def _table(node: ir.Node) -> ir.TensorProtocol | None:
    """The constant float32 matrix that a Gather picks rows of."""
    if node.domain or node.op_type != "Gather" or node.attributes.get_int("axis", 0):
        return None
    table = constant_of(node.inputs[0])
    if table is None or table.dtype != ir.DataType.FLOAT or len(table.shape) != 2:
        return None
    return table if table.size >= _LEAST_TABLE else None


def _between_cuts(graph: ir.Graph) -> Iterator[list[ir.Node]]:
    """The nodes, cut wherever at most one float that products made is still to be read."""
    order = {node: position for position, node in enumerate(graph)}
    last = len(order)
    ends: Counter[int] = Counter()
    made: set[ir.Value] = set()
    alive, nodes = 0, list[ir.Node]()
    for position, node in enumerate(graph):
        nodes.append(node)
        if weight_of(node) is not None or any(value in made for value in node.inputs if value):
            for output in node.outputs:
                # A reader in a body runs with its owner, which is not looked up: to the end.
                readers = [order.get(use.node, last) for use in output.uses()]
                if readers and output.dtype in (None, ir.DataType.FLOAT):
                    made.add(output)
                    alive += 1
                    ends[max(readers)] += 1
        alive -= ends[position]
        if alive <= 1:
            yield nodes
            nodes = []
    if nodes:
        yield nodes


def _with_products(parts: Iterator[list[ir.Node]]) -> list[list[ir.Node]]:
    """Each part with a product, and with those after it that have none; long ones in pieces."""
    found: list[list[ir.Node]] = []
    before: list[ir.Node] = []
    for nodes in parts:
        if not any(weight_of(node) is not None for node in nodes):
            (found[-1] if found else before).extend(nodes)
            continue
        found += _pieces([*before, *nodes])
        before = []
    return found


def _pieces(nodes: list[ir.Node]) -> Iterator[list[ir.Node]]:
    """Cut before a product where a piece has enough of them."""
    places = [index for index, node in enumerate(nodes) if weight_of(node) is not None]
    count = math.ceil(len(places) / _MOST_PRODUCTS)
    starts = [places[len(places) * piece // count] for piece in range(1, count)]
    for low, high in itertools.pairwise([0, *starts, len(nodes)]):
        yield nodes[low:high]


def _at_most(parts: list[_Part], most: int) -> list[_Part]:
    """Neighbours put together, those first that take least time."""
    while len(parts) > max(1, most):
        pairs = [one.seconds + two.seconds for one, two in itertools.pairwise(parts)]
        at = pairs.index(min(pairs))
        parts = [*parts[:at], parts[at] + parts[at + 1], *parts[at + 2 :]]
    return parts


def _region(part: _Part, total: float, *, embeddings: bool) -> Region:
    weights = {node: _table(node) if embeddings else weight_of(node) for node in part.nodes}
    products = [node for node, weight in weights.items() if weight is not None]
    operators = {node.op_type for node in products}
    kind: Kind = "both"
    if embeddings:
        kind = "embeddings"
    elif operators.issubset(_CONVOLUTIONS):
        kind = "convolutions"
    elif not operators.intersection(_CONVOLUTIONS):
        kind = "matrix products"
    shared = {id(weight): weight.nbytes for weight in weights.values() if weight is not None}
    return Region(
        _title([node.name or "" for node in products]),
        kind,
        tuple(node.name or "" for node in part.nodes),
        dict(Counter(node.op_type for node in products)),
        sum(shared.values()),
        part.seconds / total,
    )


def _title(names: Sequence[str]) -> str:
    """The scope that all names share, or the first and the last name."""
    scopes = [[part for part in name.split("/") if part][:-1] for name in names]
    levels = itertools.takewhile(lambda parts: len(set(parts)) == 1, zip(*scopes, strict=False))
    return "/".join(parts[0] for parts in levels) if len(names) > 1 else names[0]


def _told_apart(regions: Sequence[Region]) -> tuple[Region, ...]:
    """Titles that several have, or none, say from which node to which."""
    seen = Counter(region.title for region in regions)
    return tuple(
        replace(one, title=f"{one.nodes[0]} … {one.nodes[-1]}")
        if seen[one.title] > 1 or not one.title
        else one
        for one in regions
    )
