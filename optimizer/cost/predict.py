"""How long a node takes on a device: emit, read, compute, write.

    total = emit + max(compute, read + write)
    emit = launch of the operator + far_us x far reads

Far reads are how much of what the launch itself reads lies far (`optimizer.cost.traffic`); control
flow emits nothing. Compute is FLOPs (of elementwise classes elementary operations of the machine)
over the rate of the node's class at its width, and laying out a product's right side that is no
constant. Read and write are bytes over the bandwidth of the level of memory that holds them; of
classes that only move data, bytes over their own pace, and what farther levels take longer. Source:
the roofline model of Williams, Waterman and Patterson 2009, with a launch cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node
from optimizer.cost.classes import MATRIX, MOVING, PER_ELEMENT, OperatorClass, operator_class
from optimizer.cost.device import DeviceProfile
from optimizer.cost.node import Cost, node_cost, node_costs
from optimizer.cost.sizes import Sizes
from optimizer.cost.traffic import far_reads, packing_s, traffic_s
from optimizer.cost.widths import width_of
from optimizer.model.graph import ID, node_id, walk_nodes

SQUARE = "Square"
"""How a device lists Pow with a constant exponent of 2 or 3."""

NEAREST = "Nearest"
"""How a device lists Resize that takes the nearest element."""

BROADCAST = "Broadcast"
"""How a device lists the launch of whatever computes element by element from operands of unlike
shapes, scalars aside: it walks over them in spans."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A predicted time in its parts, in microseconds.

    Attributes:
        emit_us: launch.
        read_us: inputs, weights included.
        compute_us: arithmetic.
        write_us: outputs.
    """

    emit_us: float = 0.0
    read_us: float = 0.0
    compute_us: float = 0.0
    write_us: float = 0.0

    @property
    def total_us(self) -> float:
        """Arithmetic hides traffic or the other way round; nothing hides the launch."""
        return self.emit_us + max(self.compute_us, self.read_us + self.write_us)

    @property
    def limit(self) -> str:
        """What most of the time goes to: `launch`, `compute` or `memory`."""
        moving = self.read_us + self.write_us
        longest = max(self.emit_us, self.compute_us, moving)
        if longest == self.emit_us:
            return "launch"
        return "compute" if longest == self.compute_us else "memory"

    def __add__(self, other: Parts) -> Parts:
        """Part by part; the total of a sum is not the sum of the totals."""
        return Parts(
            self.emit_us + other.emit_us,
            self.read_us + other.read_us,
            self.compute_us + other.compute_us,
            self.write_us + other.write_us,
        )


@dataclass(frozen=True, slots=True)
class NodePrediction:
    """One node on one device.

    Attributes:
        node: its id.
        rate: FLOP/s that its class reaches at its width; 0 for classes without arithmetic.
    """

    node: str
    name: str
    op_type: str
    kind: OperatorClass
    cost: Cost
    parts: Parts
    rate: float

    @property
    def intensity(self) -> float:
        """FLOPs per byte read or written; 0 where nothing moves."""
        return self.cost.flops / self.cost.bytes_moved if self.cost.bytes_moved else 0.0


@dataclass(frozen=True, slots=True)
class GraphPrediction:
    """All nodes of a graph, one after the other.

    Attributes:
        nodes: those with a prediction, in list order, bodies included once.
        unknown: ids of those without; they are missing in the total.
        assumed: the sizes taken for free dimensions.
    """

    nodes: tuple[NodePrediction, ...]
    unknown: tuple[str, ...]
    assumed: Mapping[str, int]

    @property
    def total_us(self) -> float:
        """The sum of the nodes' totals."""
        return sum(node.parts.total_us for node in self.nodes)


def predict(
    node: ir.Node,
    sizes: Sizes,
    device: DeviceProfile,
    *,
    graph_weight_bytes: int = 0,
    far: float = 0.0,
) -> NodePrediction | None:
    """How long a node takes; None where its cost or its class is unknown.

    Args:
        node: of a graph; the prediction's id is empty where it has none.
        sizes: of its tensors.
        device: where it runs.
        graph_weight_bytes: weights of the whole graph: they pass through the caches between two
            runs, so that a node finds its own in the level that holds all.
        far: how much of what its launch reads lies far, see `far_reads`.
    """
    cost, kind = node_cost(node, sizes), operator_class(node, sizes)
    if cost is None or kind is None:
        return None
    width = width_of(node, kind, sizes)
    if width is None:
        return None
    rate = _rate(node, kind, device, width)
    operations: float = cost.flops
    if kind in PER_ELEMENT:  # what the machine needs, by operator and for an element
        operations = elements(node, cost) * device.element_operations.get(operator_of(node), 1.0)
    compute_s = operations / rate if rate else 0.0
    weight_bytes = max(graph_weight_bytes, cost.weight_bytes)
    read_s, write_s = traffic_s(node, kind, cost, device, width, weight_bytes)
    launched = launched_as(node, kind, sizes)
    launched = launched if launched in device.launches_us else node.op_type
    parts = Parts(
        emit_us=0.0 if kind == OperatorClass.CONTROL else device.launch(launched, far),
        read_us=read_s * 1e6,
        compute_us=(compute_s + packing_s(node, kind, sizes, device)) * 1e6,
        write_us=write_s * 1e6,
    )
    identity = node_id(node) if ID in node.meta else ""
    return NodePrediction(identity, node.name or "", node.op_type, kind, cost, parts, rate)


def predict_graph(graph: ir.Graph, sizes: Sizes, device: DeviceProfile) -> GraphPrediction:
    """Every node of a graph and its bodies, constants left out; a body counts once."""
    nodes = [node for node in walk_nodes(graph) if not is_constant_node(node)]
    costs = node_costs(graph, sizes)
    weights = sum(cost.weight_bytes for cost in costs.values())
    far = far_reads(graph, costs, device.near_bytes) if device.far_us else {}
    known: list[NodePrediction] = []
    unknown: list[str] = []
    for node in nodes:
        identity = node_id(node)
        found = predict(node, sizes, device, graph_weight_bytes=weights, far=far.get(identity, 0.0))
        if found is None:
            unknown.append(identity)
        else:
            known.append(found)
    return GraphPrediction(tuple(known), tuple(unknown), dict(sizes.assumed))


def elements(node: ir.Node, cost: Cost) -> float:
    """Elements that a node writes."""
    dtype = node.outputs[0].dtype
    return cost.bytes_written * 8 / (32 if dtype is None else dtype.bitwidth)


def operator_of(node: ir.Node) -> str:
    """The name under which a device lists an operator.

    A constant square is no general power, and a copy of the nearest element no interpolation.
    """
    if node.op_type == "Resize" and not node.domain:
        mode = node.attributes.get("mode")
        return NEAREST if mode is None or mode.as_string() == "nearest" else node.op_type
    if node.op_type == "Pow" and not node.domain and len(node.inputs) == 2:
        exponent = constant_of(node.inputs[1])
        if exponent is not None and exponent.size == 1 and exponent.numpy().item() in (2, 3):
            return SQUARE
    return node.op_type


def launched_as(node: ir.Node, kind: OperatorClass, sizes: Sizes) -> str:
    """The name under which a device lists the launch of a node."""
    if kind not in PER_ELEMENT:
        return node.op_type
    shapes = {sizes.shape(value) for value in node.inputs if value is not None} - {(), None}
    repeats = len(shapes) > 1 and max(prod(shape) for shape in shapes if shape) > 1
    return BROADCAST if repeats else node.op_type


def _rate(node: ir.Node, kind: OperatorClass, device: DeviceProfile, width: float) -> float:
    if kind in PER_ELEMENT:
        kind = OperatorClass.ELEMENTWISE
    curve = device.operators.get(node.op_type, device.rates.get(kind))
    if curve is None or kind in MOVING:
        return 0.0
    return curve.at(width) * (_faster(node, device) if kind in MATRIX else 1.0)


def _faster(node: ir.Node, device: DeviceProfile) -> float:
    for value in node.inputs:
        if value is not None and value.dtype is not None:
            return device.faster.get(value.dtype.name, 1.0)
    return 1.0
