"""Whether a model can be captured as a CUDA graph, found out without a GPU.

A capture records kernel launches with their arguments; a replay repeats exactly those. What cannot
be repeated so (branches of the host, other sizes, copies from pageable memory, waiting for the
GPU) stands in the way. Each rule below is one line of the checklist; `check_capture` says for each
where it is broken and what to do about it. On a machine with a GPU the runtime's own refusal, and
`placement.assigned_nodes`, confirm it.

Source: ONNX Runtime, "Using CUDA Graphs" of the CUDA execution provider, and its pull requests
9978, 16358, 16491 and 19636; CUDA programming guide, "Prohibited and unhandled operations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.isolation import within_worker
from optimizer.model.graph import Model, node_id, walk_nodes
from optimizer.model.loader import load_path
from optimizer.source import complete
from profiling.cuda.host_arguments import HOST_INPUTS
from profiling.cuda.placement import Crossing, Placement, full_name, place, type_text

Rule = Literal[
    "control-flow",
    "shapes",
    "output-shapes",
    "tensors",
    "kernels",
    "copies",
    "waits",
    "host-values",
]
Severity = Literal["blocks", "condition", "note"]

RULES: Mapping[Rule, str] = {
    "control-flow": "No If, Loop or Scan",
    "shapes": "Inputs have fixed sizes",
    "output-shapes": "No size depends on data",
    "tensors": "Inputs and outputs are tensors of numbers",
    "kernels": "Every operator has a CUDA kernel",
    "copies": "No copies between CPU and GPU inside the graph",
    "waits": "No operator makes the host wait",
    "host-values": "No kernel takes its arguments from an input's values",
}
"""What a capture needs of the model, in the order of the checklist."""

_CONTROL_FLOW = frozenset({"If", "Loop", "Scan"})
_SIZED_BY_DATA = frozenset({"NonZero", "Compress", "Unique", "NonMaxSuppression", "StringSplit"})
_WAITING = frozenset(f"com.microsoft:{name}" for name in ("BeamSearch", "GreedySearch", "Sampling"))


@dataclass(frozen=True, slots=True)
class CaptureFinding:
    """One thing in the way, or worth knowing.

    Attributes:
        rule: which line of the checklist.
        severity: `blocks` capturing; `condition`: it works as long as the remedy is kept to;
            `note`: tolerated.
        place: the node's or value's name.
        op_type: the node's operator, empty for an input or output.
        node: the node's id in its model, empty for an input or output.
        reason: one sentence.
        remedy: one sentence, empty for a note.
    """

    rule: Rule
    severity: Severity
    place: str
    op_type: str
    node: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class CaptureCheck:
    """The checklist of one model.

    Attributes:
        findings: in the order of the rules; empty for a model without any trouble.
        nodes: on each side: `cuda`, `cpu`, `folded`.
        runtime: whose kernels were looked up.
    """

    findings: tuple[CaptureFinding, ...]
    nodes: Mapping[str, int] = field(default_factory=dict[str, int])
    runtime: str = ""

    @property
    def possible(self) -> bool:
        """Whether nothing blocks a capture."""
        return not any(finding.severity == "blocks" for finding in self.findings)

    def of(self, rule: Rule) -> tuple[CaptureFinding, ...]:
        """The findings about one line of the checklist."""
        return tuple(finding for finding in self.findings if finding.rule == rule)


def check_file(
    path: Path, bindings: Mapping[str, int] | None = None, *, folding: bool = True
) -> CaptureCheck:
    """`check_capture` of a file; types and shapes are inferred first. Only in a worker.

    Raises:
        StudioError: it cannot be opened.
    """
    from profiling.cuda.kernel_table import kernel_table

    model = complete(load_path(path), isolate=within_worker, bind=bindings)
    placement = place(model.ir, folding=folding)
    counts = {side: len(placement.on(side)) for side in ("cuda", "cpu", "folded")}
    findings = _findings(model.ir, placement, model.bindings)
    return CaptureCheck(findings, counts, kernel_table().runtime)


def check_capture(
    model: Model, bindings: Mapping[str, int] | None = None, *, folding: bool = True
) -> tuple[CaptureFinding, ...]:
    """Everything that stands in the way of capturing the model, or limits it.

    Args:
        model: with types and shapes as far as they are known, and its functions inlined, as
            `optimizer.source` opens it.
        bindings: dimensions that will have one size.
        folding: whether the runtime's optimizations are on, which fold constants first.
    """
    bound = {**model.bindings, **(bindings or {})}
    return _findings(model.ir, place(model.ir, folding=folding), bound)


def _findings(
    model: ir.Model, placement: Placement, bound: Mapping[str, int]
) -> tuple[CaptureFinding, ...]:
    rules: tuple[Callable[[], Iterator[CaptureFinding]], ...] = (
        lambda: _control_flow(model.graph),
        lambda: _open_sizes(model.graph, bound),
        lambda: _sized_by_data(model.graph),
        lambda: _not_tensors(model.graph),
        lambda: _without_kernel(model.graph, placement),
        lambda: _copies(placement),
        lambda: _waits(model.graph),
        lambda: _host_values(placement),
    )
    return tuple(finding for rule in rules for finding in rule())


def _control_flow(graph: ir.Graph) -> Iterator[CaptureFinding]:
    for node in walk_nodes(graph):
        if node.op_type in _CONTROL_FLOW and not node.domain:
            yield _about(
                "control-flow",
                node,
                f"{node.op_type} decides on the host what runs next; a replay knows one way.",
                "Export the model with the branch taken or the loop unrolled, "
                "or capture the body as a model of its own.",
            )


def _open_sizes(graph: ir.Graph, bound: Mapping[str, int]) -> Iterator[CaptureFinding]:
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


def _sized_by_data(graph: ir.Graph) -> Iterator[CaptureFinding]:
    for node in walk_nodes(graph):
        if node.op_type in _SIZED_BY_DATA and not node.domain:
            yield _about(
                "output-shapes",
                node,
                f"How large the output of {node.op_type} is depends on the data: "
                "the host has to wait for it and sizes differ between replays.",
                "Use a form of fixed size (a mask with Where, or TopK), or run it outside the "
                "captured model.",
            )


def _not_tensors(graph: ir.Graph) -> Iterator[CaptureFinding]:
    for side, values in (("input", graph.inputs), ("output", graph.outputs)):
        for value in values:
            kind = type_text(value)
            if kind and (not kind.startswith("tensor(") or kind == "tensor(string)"):
                yield CaptureFinding(
                    "tensors", "blocks", value.name or "", "", "",
                    f"This {side} is a {kind}, which has no fixed address on the GPU.",
                    "Give and take tensors of numbers; convert outside the model.",
                )  # fmt: skip


def _without_kernel(graph: ir.Graph, placement: Placement) -> Iterator[CaptureFinding]:
    travelling = _crossing_nodes(placement)
    inside = {crossing.maker for crossing in placement.crossings}
    idle = not placement.on("cuda")
    for node, reason in placement.reasons.items():
        if node.op_type in _CONTROL_FLOW | _SIZED_BY_DATA and not node.domain:
            continue  # said already
        blocks = idle or node in travelling or node in inside or _computes(node, graph)
        yield _about(
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
        yield _about(
            "kernels",
            preferred[0],
            f"{len(preferred)} nodes that compute shapes stay on the CPU ({some}); "
            "tolerated, for nothing has to be copied, but their values are those of the capture.",
            "",
            severity="note",
        )


def _computes(node: ir.Node, graph: ir.Graph) -> bool:
    """Whether the node makes an output of the model: the runtime then computes on the CPU."""
    return any(value in graph.outputs for value in node.outputs)


def _copies(placement: Placement) -> Iterator[CaptureFinding]:
    for crossing in placement.crossings:
        ends = [crossing.maker, *crossing.readers]
        if any(node in placement.reasons for node in ends):
            continue  # the missing kernel is the cause, and has been told
        node = crossing.readers[0]
        yield _about(
            "copies", node, _copy_text(crossing),
            "Compute it from shapes or constants, or give it as an input, so that it is already "
            "where it is read.",
        )  # fmt: skip


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


def _waits(graph: ir.Graph) -> Iterator[CaptureFinding]:
    for node in walk_nodes(graph):
        if full_name(node) in _WAITING:
            yield _about(
                "waits",
                node,
                f"{node.op_type} looks at results on the host between its steps.",
                "Capture the decoder step by itself and search on the host.",
            )


def _host_values(placement: Placement) -> Iterator[CaptureFinding]:
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
                    yield CaptureFinding(
                        "host-values", "condition", source.name or "", "", "",
                        f"{node.op_type} {quoted(node.name or '')} takes an argument from its "
                        "value; replays keep the value of the capture.",
                        "Fix it as a constant, or capture again whenever it changes.",
                    )  # fmt: skip


def _fed_from(value: ir.Value | None, placement: Placement) -> Iterator[ir.Value]:
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


def _crossing_nodes(placement: Placement) -> set[ir.Node | None]:
    found: set[ir.Node | None] = set()
    for crossing in placement.crossings:
        found.update((crossing.maker, *crossing.readers))
    return found


def _about(
    rule: Rule, node: ir.Node, reason: str, remedy: str, *, severity: Severity = "blocks"
) -> CaptureFinding:
    return CaptureFinding(
        rule, severity, node.name or "", node.op_type, node_id(node), reason, remedy
    )


def _is_bound(dim: object, bound: Mapping[str, int]) -> bool:
    return isinstance(dim, int) or (
        isinstance(dim, ir.SymbolicDim) and dim.value is not None and dim.value in bound
    )


def _dim_name(dim: object) -> str:
    return (dim.value or "unnamed") if isinstance(dim, ir.SymbolicDim) else "unnamed"
