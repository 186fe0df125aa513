"""What the graph alone says about capturing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx_ir as ir

from optimizer.model.graph import walk_nodes
from profiling.cuda.findings import CONTROL_FLOW, SIZED_BY_DATA, CaptureFinding, about
from profiling.cuda.placement import full_name, type_text

_WAITING = frozenset(f"com.microsoft:{name}" for name in ("BeamSearch", "GreedySearch", "Sampling"))


def control_flow(graph: ir.Graph) -> Iterator[CaptureFinding]:
    """Nodes with bodies, wherever they are."""
    for node in walk_nodes(graph):
        if node.op_type in CONTROL_FLOW and not node.domain:
            yield about(
                "control-flow",
                node,
                f"{node.op_type} decides on the host what runs next; a replay knows one way.",
                "Export the model with the branch taken or the loop unrolled, "
                "or capture the body as a model of its own.",
            )


def open_sizes(graph: ir.Graph, bound: Mapping[str, int]) -> Iterator[CaptureFinding]:
    """Inputs whose sizes are not numbers."""
    for value in graph.inputs:
        if value.shape is None and isinstance(value.type, ir.TensorType):
            names = ["its rank"]
        else:
            names = [_dim_name(dim) for dim in value.shape or () if not _is_bound(dim, bound)]
        if names:
            yield CaptureFinding(
                "shapes", "condition", value.name or "", "", "",
                f"Its size is open ({', '.join(names[:4])}); a capture holds for one shape.",
                "Bind the dimension, or capture each shape that occurs under an id of its own "
                "(gpu_graph_id).",
            )  # fmt: skip


def sized_by_data(graph: ir.Graph) -> Iterator[CaptureFinding]:
    """Operators whose output is as large as the data says."""
    for node in walk_nodes(graph):
        if node.op_type in SIZED_BY_DATA and not node.domain:
            yield about(
                "output-shapes",
                node,
                f"How large the output of {node.op_type} is depends on the data: "
                "the host has to wait for it and sizes differ between replays.",
                "Use a form of fixed size (a mask with Where, or TopK), or run it outside the "
                "captured model.",
            )


def not_tensors(graph: ir.Graph) -> Iterator[CaptureFinding]:
    """Inputs and outputs that have no address on the GPU."""
    for side, values in (("input", graph.inputs), ("output", graph.outputs)):
        for value in values:
            kind = type_text(value)
            if kind and (not kind.startswith("tensor(") or kind == "tensor(string)"):
                yield CaptureFinding(
                    "tensors", "blocks", value.name or "", "", "",
                    f"This {side} is a {kind}, which has no fixed address on the GPU.",
                    "Give and take tensors of numbers; convert outside the model.",
                )  # fmt: skip


def waits(graph: ir.Graph) -> Iterator[CaptureFinding]:
    """Operators that look at results on the host."""
    for node in walk_nodes(graph):
        if full_name(node) in _WAITING:
            yield about(
                "waits",
                node,
                f"{node.op_type} looks at results on the host between its steps.",
                "Capture the decoder step by itself and search on the host.",
            )


def _is_bound(dim: object, bound: Mapping[str, int]) -> bool:
    return isinstance(dim, int) or (
        isinstance(dim, ir.SymbolicDim) and dim.value is not None and dim.value in bound
    )


def _dim_name(dim: object) -> str:
    return (dim.value or "unnamed") if isinstance(dim, ir.SymbolicDim) else "unnamed"
