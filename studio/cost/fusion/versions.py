"""A chain as kernels: what each takes, and what it moves through memory."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node
from optimizer.cost.device import DeviceProfile
from optimizer.cost.node import VIEWS, node_cost
from optimizer.cost.predict import Parts, predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.errors import StudioError
from optimizer.model.graph import is_used, node_id
from studio.cost.fusion.fusion import Access, FusedKernel, Role, Version
from studio.cost.prediction.job import detail_of, shape_of


def version_of(graph: ir.Graph, device: DeviceProfile, name: str) -> Version:
    """Every node of a graph as a kernel.

    Raises:
        StudioError: what a node costs is not known.
    """
    sizes = Sizes.of(graph)
    predicted = {node.node: node for node in predict_graph(graph, sizes, device).nodes}
    numbers: dict[ir.Value, int] = {}
    kernels: list[FusedKernel] = []
    for node in graph:
        if is_constant_node(node):
            continue
        known = predicted.get(node_id(node))
        if known is None:
            raise StudioError(f"What {node.op_type} costs is not known, so nothing is predicted.")
        reads, writes = _accesses(node, sizes, numbers)
        detail = detail_of(node, sizes)
        kernels.append(FusedKernel(node.op_type, detail, known.parts, reads, writes))
    return Version(name, tuple(kernels))


def _accesses(
    node: ir.Node, sizes: Sizes, numbers: dict[ir.Value, int]
) -> tuple[tuple[Access, ...], tuple[Access, ...]]:
    """What goes through memory; a view touches no data, and picking reads what it makes."""
    cost = node_cost(node, sizes)
    if cost is None or (not node.domain and node.op_type in VIEWS):
        return (), ()
    reads = dict.fromkeys(value for value in node.inputs if value is not None)
    writes = [value for value in node.outputs if is_used(value)]

    def access(value: ir.Value) -> Access:
        number = numbers.setdefault(value, len(numbers))
        role = _role(value)
        size_bytes = sizes.size_bytes(value) or 0
        return Access(number, _label(value, role), shape_of(value, sizes), size_bytes, role)

    return tuple(map(access, reads)), tuple(map(access, writes))


def _role(value: ir.Value) -> Role:
    if constant_of(value) is not None:
        return "weight"
    if value.is_graph_output():
        return "output"
    return "input" if value.producer() is None else "between"


def _label(value: ir.Value, role: Role) -> str:
    producer = value.producer()
    return f"{producer.op_type} result" if role == "between" and producer is not None else role


def one_kernel(before: Version) -> Version:
    """One kernel: intermediates stay in registers, arithmetic is as much as before."""
    inside = {
        access.tensor for kernel in before.kernels for access in kernel.writes
        if access.role == "between"
    }  # fmt: skip
    reads: dict[int, Access] = {}
    read_us = compute_us = write_us = 0.0
    for kernel in before.kernels:
        outside = [access for access in kernel.reads if access.tensor not in inside]
        fresh = [access for access in outside if access.tensor not in reads]
        reads.update((access.tensor, access) for access in fresh)
        read_us += kernel.parts.read_us * _part(fresh, kernel.reads)
        written = [access for access in kernel.writes if access.role == "output"]
        write_us += kernel.parts.write_us * _part(written, kernel.writes)
        compute_us += kernel.parts.compute_us
    names = [kernel.op_type for kernel in before.kernels]
    launch = max(kernel.parts.emit_us for kernel in before.kernels)
    one = FusedKernel(
        " + ".join(dict.fromkeys(names)),
        "",
        Parts(launch, read_us, compute_us, write_us),
        tuple(reads.values()),
        before.kernels[-1].writes,
    )
    return Version("one kernel, if there were one", (one,))


def _part(some: Sequence[Access], every: Sequence[Access]) -> float:
    whole = sum(access.size_bytes for access in every)
    return sum(access.size_bytes for access in some) / whole if whole else 0.0
