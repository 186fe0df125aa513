"""A model on one page: counts, sizes, interface, findings, statuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.codec import Format
from optimizer.constants import is_constant_node
from optimizer.findings import Finding, Statuses
from optimizer.graph_cost import GraphCost, graph_cost
from optimizer.model.graph import Model, count_nodes, walk_graphs, walk_nodes
from studio.graphview.text import cut, dtype_text, shape_text

MAX_FINDINGS = 500


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the graph, in words; a shape that is not known is empty."""

    name: str
    dtype: str
    shape: str


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What `passlens inspect` prints and the Model page shows.

    Attributes:
        digest: SHA-256 of the file.
        opsets: version by domain.
        nodes: Constant not counted.
        graphs: bodies included.
        operators: how often each occurs, the most frequent first.
        parameters: elements of all weights.
        bindings: sizes that free dimensions were given.
        statuses: what can be done with it.
        findings: the first of them.
        findings_left_out: how many more there are.
    """

    name: str
    digest: str
    producer: str
    ir_version: int
    opsets: Mapping[str, int]
    nodes: int
    constant_nodes: int
    graphs: int
    operators: Mapping[str, int]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    parameters: int
    weight_bytes: int
    cost: GraphCost
    bindings: Mapping[str, int]
    statuses: Statuses
    findings: tuple[Finding, ...]
    findings_left_out: int


SUMMARY = Format(ModelSummary, "passlens.summary/1", "summary of a model")


def summary_of(model: Model) -> ModelSummary:
    """A model on one page."""
    graph = model.ir.graph
    producer = f"{model.ir.producer_name or ''} {model.ir.producer_version or ''}".strip()
    return ModelSummary(
        name=cut(model.name),
        digest=model.digest,
        producer=cut(producer),
        ir_version=model.ir.ir_version,
        opsets={cut(d or "ai.onnx", 60): v for d, v in graph.opset_imports.items()},
        nodes=count_nodes(graph),
        constant_nodes=sum(map(is_constant_node, walk_nodes(graph))),
        graphs=sum(1 for _ in walk_graphs(graph)),
        operators=dict(_histogram(graph).most_common()),
        inputs=tuple(map(_port, graph.inputs)),
        outputs=tuple(map(_port, graph.outputs)),
        parameters=sum(tensor.size for tensor in _weights(graph)),
        weight_bytes=sum(tensor.nbytes for tensor in _weights(graph)),
        cost=graph_cost(graph),
        bindings=dict(model.bindings),
        statuses=model.statuses,
        findings=tuple(model.findings[:MAX_FINDINGS]),
        findings_left_out=max(0, len(model.findings) - MAX_FINDINGS),
    )


def _histogram(graph: ir.Graph) -> Counter[str]:
    names = (f"{n.domain}::{n.op_type}" if n.domain else n.op_type for n in walk_nodes(graph))
    return Counter(cut(name, 60) for name in names if name != "Constant")


def _weights(graph: ir.Graph) -> list[ir.TensorProtocol]:
    return [
        value.const_value
        for inner in walk_graphs(graph)
        for value in inner.initializers.values()
        if value.const_value is not None
    ]


def _port(value: ir.Value) -> Port:
    return Port(cut(value.name or ""), dtype_text(value), shape_text(value.shape))
