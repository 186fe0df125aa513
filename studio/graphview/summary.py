"""A model on one page: counts, sizes, interface, findings, statuses."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.cost import graph_cost
from optimizer.model.graph import Model, count_nodes, walk_graphs, walk_nodes
from studio.graphview.text import cut, dtype_text, shape_text

SCHEMA = "passlens.summary/1"
MAX_FINDINGS = 500


def summary_json(model: Model) -> dict[str, Any]:
    """What `passlens inspect` prints and the Model page shows."""
    graph = model.ir.graph
    cost = graph_cost(graph)
    return {
        "schema": SCHEMA,
        "name": cut(model.name),
        "digest": model.digest,
        "producer": cut(
            f"{model.ir.producer_name or ''} {model.ir.producer_version or ''}".strip()
        ),
        "ir_version": model.ir.ir_version,
        "opsets": {cut(d or "ai.onnx", 60): v for d, v in graph.opset_imports.items()},
        "nodes": count_nodes(graph),
        "constant_nodes": sum(map(is_constant_node, walk_nodes(graph))),
        "graphs": sum(1 for _ in walk_graphs(graph)),
        "operators": dict(_histogram(graph).most_common()),
        "inputs": [_port(value) for value in graph.inputs],
        "outputs": [_port(value) for value in graph.outputs],
        "parameters": sum(tensor.size for tensor in _weights(graph)),
        "weight_bytes": sum(tensor.nbytes for tensor in _weights(graph)),
        "cost": asdict(cost),
        "bindings": dict(model.bindings),
        "statuses": asdict(model.statuses),
        "findings": [asdict(finding) for finding in model.findings[:MAX_FINDINGS]],
        "findings_left_out": max(0, len(model.findings) - MAX_FINDINGS),
    }


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


def _port(value: ir.Value) -> dict[str, str]:
    return {
        "name": cut(value.name or ""),
        "dtype": dtype_text(value),
        "shape": shape_text(value.shape),
    }
