"""What is in a model in how many bits, and the products whose weights are constant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import onnx_ir as ir

from optimizer.codec import Format
from optimizer.constants import constant_of
from optimizer.cost.devices import CORTEX_X4
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.isolation import Progress
from optimizer.model.graph import node_id, walk_nodes
from optimizer.rewrite.graph_at import TraceFiles, graph_at
from profiling.precision.regions import weight_of
from studio.artifacts.artifact import Artifact, Value
from studio.graphview.text import cut, dtype_name


@dataclass(frozen=True, slots=True)
class Stored:
    """The constants of one element type."""

    dtype: str
    numbers: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class WeightedProduct:
    """An operator with constant float32 weights.

    Attributes:
        node: its id.
        name: for people.
        reads: name of the value that is multiplied by the weights.
        axis: of the weights' channels.
    """

    node: str
    name: str
    op_type: str
    reads: str
    shape: tuple[int, ...]
    axis: int

    @property
    def numbers(self) -> int:
        """How many weights."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a model is made of, without running it.

    Attributes:
        stored: constants by element type, the largest first.
        products: the one with most weights first.
        predicted_us: of one run on a small CPU core; tells quick models from slow ones.
    """

    stored: tuple[Stored, ...]
    products: tuple[WeightedProduct, ...]
    predicted_us: float

    @property
    def size_bytes(self) -> int:
        """Of all constants."""
        return sum(one.size_bytes for one in self.stored)


def take_stock(files: TraceFiles, step: int, *, progress: Progress) -> Inventory:
    """What constants there are, and which of them are weights of products."""
    progress("reading the graph", 0.2)
    graph = graph_at(files, step).graph
    stored: dict[str, list[int]] = {}
    for tensor in _constants(graph):
        about = stored.setdefault(dtype_name(tensor.dtype), [0, 0])
        about[0] += tensor.size
        about[1] += tensor.nbytes
    products = [found for node in walk_nodes(graph) if (found := product_of(node)) is not None]
    predicted = predict_graph(graph, Sizes.of(graph), CORTEX_X4)
    return Inventory(
        tuple(
            Stored(name, *about)
            for name, about in sorted(stored.items(), key=lambda item: -item[1][1])
        ),
        tuple(sorted(products, key=lambda product: -product.numbers)),
        predicted.total_us,
    )


def product_of(node: ir.Node) -> WeightedProduct | None:
    """The node as a product with constant float32 weights; None where it is none."""
    weight = weight_of(node)
    if weight is None or (data := node.inputs[0]) is None:
        return None
    axis = {"Conv": 0, "ConvTranspose": 1}.get(node.op_type, len(weight.shape) - 1)
    if node.op_type == "Gemm":
        axis = 0 if node.attributes.get_int("transB", 0) else 1
    shape = tuple(weight.shape.numpy())
    name = cut(node.name or node_id(node))
    return WeightedProduct(node_id(node), name, node.op_type, data.name or "", shape, axis)


def _constants(graph: ir.Graph) -> Iterator[ir.TensorProtocol]:
    """Every constant that some node reads, once."""
    known: set[int] = set()
    for node in walk_nodes(graph):
        for value in node.inputs:
            tensor = constant_of(value)
            if tensor is not None and id(tensor) not in known:
                known.add(id(tensor))
                yield tensor


INVENTORY: Artifact[int, Inventory] = Artifact(
    "precision-inventory",
    take_stock,
    Value(Format(Inventory, "passlens.precision-inventory/1", "inventory of a model")),
)
"""Of a step."""
