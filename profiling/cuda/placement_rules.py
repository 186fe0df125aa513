"""What follows for capturing from where the nodes would run."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.errors import quoted
from profiling.cuda.findings import CONTROL_FLOW, SIZED_BY_DATA, CaptureFinding, about
from profiling.cuda.host_arguments import HOST_INPUTS
from profiling.cuda.placement import Crossing, NodePlacement, full_name


def without_kernel(graph: ir.Graph, placement: NodePlacement) -> Iterator[CaptureFinding]:
    """Nodes on the CPU: blocking where data must travel or be computed, else tolerated."""
    travelling = _crossing_nodes(placement)
    inside = {crossing.maker for crossing in placement.crossings}
    idle = not placement.on("cuda")
    for node, reason in placement.reasons.items():
        if node.op_type in CONTROL_FLOW | SIZED_BY_DATA and not node.domain:
            continue  # said already
        blocks = idle or node in travelling or node in inside or _computes(node, graph)
        yield about(
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
        yield about(
            "kernels",
            preferred[0],
            f"Stays on the CPU, as every node that computes shapes ({len(preferred)}: {some}); "
            "tolerated, for nothing has to be copied, but the values are those of the capture.",
            "",
            severity="note",
        )


def _computes(node: ir.Node, graph: ir.Graph) -> bool:
    """Whether the node makes an output of the model: the runtime then computes on the CPU."""
    return any(value in graph.outputs for value in node.outputs)


def copies(placement: NodePlacement) -> Iterator[CaptureFinding]:
    """Values copied inside the graph: by themselves, or because a kernel is missing."""
    for crossing in placement.crossings:
        caused = any(node in placement.reasons for node in (crossing.maker, *crossing.readers))
        yield about(
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


def host_values(placement: NodePlacement) -> Iterator[CaptureFinding]:
    """Kernel arguments that come from an input's values, by way of the CPU."""
    told: set[ir.Value] = set()
    for node in placement.on("cuda"):
        if node.op_type in CONTROL_FLOW:
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


def _crossing_nodes(placement: NodePlacement) -> set[ir.Node | None]:
    found: set[ir.Node | None] = set()
    for crossing in placement.crossings:
        found.update((crossing.maker, *crossing.readers))
    return found
