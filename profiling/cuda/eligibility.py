"""Whether a model can be captured as a CUDA graph, found out without a GPU.

A capture records kernel launches with their arguments; a replay repeats exactly those. What cannot
be repeated so (branches of the host, other sizes, copies from pageable memory, waiting for the
GPU) stands in the way. Each line of the checklist is a rule below; `check_model` says for each
where it is broken and what to do about it. On a machine with a GPU the runtime's own refusal, and
`execution.session.assigned_nodes`, confirm it.

Source: ONNX Runtime, "Using CUDA Graphs" of the CUDA execution provider, and its pull requests
9978, 16358, 16491 and 19636; CUDA programming guide, "Prohibited and unhandled operations".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.model.graph import Model, node_id, walk_nodes
from profiling.cuda.findings import RULES, CaptureCheck, CaptureFinding, Rule, Severity
from profiling.cuda.kernel_table import HOST_INPUTS, kernel_table
from profiling.cuda.placement import Crossing, NodePlacement, full_name, place, type_text

_CONTROL_FLOW = frozenset({"If", "Loop", "Scan"})
_SIZED_BY_DATA = frozenset({"NonZero", "Compress", "Unique", "NonMaxSuppression", "StringSplit"})
_WAITING = frozenset(f"com.microsoft:{name}" for name in ("BeamSearch", "GreedySearch", "Sampling"))

_AT_OPERATORS: Mapping[Rule, tuple[frozenset[str], str, str]] = {
    "control-flow": (
        _CONTROL_FLOW,
        "{} decides on the host what runs next; a replay knows one way.",
        "Export the model with the branch taken or the loop unrolled, "
        "or capture the body as a model of its own.",
    ),
    "output-shapes": (
        _SIZED_BY_DATA,
        "How large the output of {} is depends on the data: "
        "the host has to wait for it and sizes differ between replays.",
        "Use a form of fixed size (a mask with Where, or TopK), or run it outside the "
        "captured model.",
    ),
    "waits": (
        _WAITING,
        "{} looks at results on the host between its steps.",
        "Capture the decoder step by itself and search on the host.",
    ),
}
"""Operators that block a capture wherever they are, why, and what to do."""


def check_model(
    model: Model, bindings: Mapping[str, int] | None = None, *, folding: bool = True
) -> CaptureCheck:
    """Everything that stands in the way of capturing the model, or limits it.

    Args:
        model: with types and shapes as far as they are known, and its functions inlined, as
            `optimizer.source` opens it.
        bindings: dimensions that will have one size.
        folding: whether the runtime's optimizations are on, which fold constants first.
    """
    graph, placement = model.ir.graph, place(model.ir, folding=folding)
    counts = {side: len(placement.on(side)) for side in ("cuda", "cpu", "folded")}
    findings = (
        *_at_operators(graph),
        *_open_sizes(graph, {**model.bindings, **(bindings or {})}),
        *_not_tensors(graph),
        *_without_kernel(graph, placement),
        *_copies(placement),
        *_host_values(placement),
    )
    rules = list(RULES)
    in_order = sorted(findings, key=lambda finding: rules.index(finding.rule))
    return CaptureCheck(tuple(in_order), counts, kernel_table().runtime)


def _at_node(
    rule: Rule, node: ir.Node, reason: str, remedy: str, *, severity: Severity = "blocks"
) -> CaptureFinding:
    return CaptureFinding(
        rule, severity, node.name or "", node.op_type, node_id(node), reason, remedy
    )


def _at_value(
    rule: Rule, value: ir.Value, reason: str, remedy: str, *, severity: Severity = "condition"
) -> CaptureFinding:
    return CaptureFinding(rule, severity, value.name or "", "", "", reason, remedy)


def _at_operators(graph: ir.Graph) -> Iterator[CaptureFinding]:
    """Nodes that decide, wait or size by data, wherever they are."""
    for rule, (operators, reason, remedy) in _AT_OPERATORS.items():
        for node in walk_nodes(graph):
            if full_name(node) in operators:
                yield _at_node(rule, node, reason.format(node.op_type), remedy)


def _open_sizes(graph: ir.Graph, bound: Mapping[str, int]) -> Iterator[CaptureFinding]:
    """Inputs whose sizes are not numbers."""
    for value in graph.inputs:
        if value.shape is None and isinstance(value.type, ir.TensorType):
            names = ["its rank"]
        else:
            texts = (dim.value for dim in value.shape or () if not isinstance(dim, int))
            names = [text or "unnamed" for text in texts if text is None or text not in bound]
        if names:
            yield _at_value(
                "shapes",
                value,
                f"Its size is open ({', '.join(names[:4])}); a capture holds for one shape.",
                "Bind the dimension, or capture each shape that occurs under an id of its own "
                "(gpu_graph_id).",
            )


def _not_tensors(graph: ir.Graph) -> Iterator[CaptureFinding]:
    """Inputs and outputs that have no address on the GPU."""
    for side, values in (("input", graph.inputs), ("output", graph.outputs)):
        for value in values:
            kind = type_text(value)
            if kind and (not kind.startswith("tensor(") or kind == "tensor(string)"):
                yield _at_value(
                    "tensors",
                    value,
                    f"This {side} is a {kind}, which has no fixed address on the GPU.",
                    "Give and take tensors of numbers; convert outside the model.",
                    severity="blocks",
                )


def _without_kernel(graph: ir.Graph, placement: NodePlacement) -> Iterator[CaptureFinding]:
    """Nodes on the CPU: blocking where data must travel or be computed, else tolerated."""
    crossings = placement.crossings
    travelling = {node for crossing in crossings for node in (crossing.maker, *crossing.readers)}
    idle = not placement.on("cuda")
    for node, reason in placement.reasons.items():
        if node.op_type in _CONTROL_FLOW | _SIZED_BY_DATA and not node.domain:
            continue  # said already
        # What makes an output of the model makes the runtime compute on the CPU.
        gives = any(value in graph.outputs for value in node.outputs)
        blocks = idle or node in travelling or gives
        yield _at_node(
            "kernels",
            node,
            f"It would run on the CPU: {reason}.",
            "Rewrite it with operators that have one, change its type, or leave it outside."
            if blocks
            else "",
            severity="blocks" if blocks else "note",
        )
    preferred = [
        node for node in placement.sides if node in placement.preferred and node not in travelling
    ]
    if preferred:
        some = ", ".join(dict.fromkeys(node.op_type for node in preferred))
        yield _at_node(
            "kernels",
            preferred[0],
            f"Stays on the CPU, as every node that computes shapes ({len(preferred)}: {some}); "
            "tolerated, for nothing has to be copied, but the values are those of the capture.",
            "",
            severity="note",
        )


def _copies(placement: NodePlacement) -> Iterator[CaptureFinding]:
    """Values copied inside the graph: by themselves, or because a kernel is missing."""
    for crossing in placement.crossings:
        caused = any(node in placement.reasons for node in (crossing.maker, *crossing.readers))
        yield _at_node(
            "copies",
            crossing.readers[0],
            _copy_text(crossing),
            "It goes with the operator that has no kernel."
            if caused
            else "Fold constants and bind sizes first, so that shapes are numbers; else compute it "
            "where it is read.",
            severity="follows" if caused else "blocks",
        )


def _copy_text(crossing: Crossing) -> str:
    name = quoted(crossing.value.name or "")
    reader = crossing.readers[0].op_type
    if crossing.maker is None:
        return f"The input {name} is read on the CPU and on the GPU: a Memcpy node copies it."
    if crossing.direction == "to host":
        return (
            f"{reader} reads {name} on the host, but {crossing.maker.op_type} computes it on the "
            "GPU: a Memcpy node, and the host waits."
        )
    return (
        f"{crossing.maker.op_type} computes {name} on the CPU and {reader} reads it on the GPU: "
        "a Memcpy node."
    )


def _host_values(placement: NodePlacement) -> Iterator[CaptureFinding]:
    """Kernel arguments that come from an input's values, by way of the CPU."""
    told: set[ir.Value] = set()
    for node in placement.on("cuda"):
        if node.op_type in _CONTROL_FLOW:
            continue  # said already
        for index in HOST_INPUTS.get(full_name(node), ()):
            value = node.inputs[index] if index < len(node.inputs) else None
            for source in _fed_from(value, placement):
                if source not in told:
                    told.add(source)
                    yield _at_value(
                        "host-values",
                        source,
                        f"{node.op_type} {quoted(node.name or '')} takes an argument from its "
                        "value; replays keep the value of the capture.",
                        "Fix it as a constant, or capture again whenever it changes.",
                    )


def _fed_from(value: ir.Value | None, placement: NodePlacement) -> Iterator[ir.Value]:
    """Inputs of the model whose values reach this one on the CPU; shapes are no values."""
    stack, seen = [value], set[ir.Value]()
    while stack:
        current = stack.pop()
        if current is None or current in seen:
            continue
        seen.add(current)
        maker = current.producer()
        if maker is None:
            if current.is_graph_input() and not current.is_initializer():
                yield current
        elif maker.op_type not in ("Shape", "Size") and placement.sides.get(maker) == "cpu":
            stack.extend(maker.inputs)
