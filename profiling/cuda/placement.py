"""Where ONNX Runtime would put each node, found out without a GPU.

A simple model of the runtime's partitioner, in its order: what is constant is folded (unless
optimization is off); a node for which the CUDA provider has a kernel goes there, any other to the
CPU; then nodes that only work on values which lie on the host anyway, usually shapes, are kept on
the CPU (`GetCpuPreferredNodes`); last, copies go wherever a value is made on one side and read on
the other. Not modelled: operators that the runtime takes apart because neither side has a kernel,
and its rewrites before partitioning other than constant folding. On a machine with a GPU
`execution.session.assigned_nodes` asks the runtime itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import onnx
import onnx_ir as ir

from optimizer.model.graph import bodies
from profiling.cuda.kernel_table import (
    HOST_INPUTS,
    HOST_OUTPUTS,
    KernelTable,
    Missing,
    Provider,
    kernel_table,
    refusal_by_attribute,
)

Side = Literal["folded", "cuda", "cpu"]
Copy = Literal["to host", "to device"]
_SMALL = 100
"""Elements of an initializer that the runtime calls small (`kSmallInitializerThreshold`)."""

_RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
    | {"Bernoulli"}
)
_NARROW = frozenset(
    f"tensor({name})"
    for name in ("float16", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2")
)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A value that has to be copied inside the graph: the runtime's Memcpy nodes.

    Attributes:
        value: that travels.
        maker: its node; None for an input of the model.
        readers: on the other side.
    """

    value: ir.Value
    maker: ir.Node | None
    readers: tuple[ir.Node, ...]
    direction: Copy


@dataclass(slots=True)
class NodePlacement:
    """The nodes of one graph.

    Attributes:
        sides: by node.
        reasons: why a node is on the CPU.
        preferred: nodes on the CPU although there is a CUDA kernel.
        crossings: values that are copied inside the graph.
    """

    sides: dict[ir.Node, Side] = field(default_factory=dict[ir.Node, "Side"])
    reasons: dict[ir.Node, str] = field(default_factory=dict[ir.Node, str])
    preferred: set[ir.Node] = field(default_factory=set[ir.Node])
    crossings: tuple[Crossing, ...] = ()

    def on(self, side: Side) -> list[ir.Node]:
        """The nodes there, in order."""
        return [node for node, where in self.sides.items() if where == side]


def place(model: ir.Model, *, folding: bool = True) -> NodePlacement:
    """Where the nodes of the main graph would run.

    Args:
        model: with types and shapes as far as they are known; functions inlined.
        folding: whether the runtime's optimizations are on.
    """
    return _Placing(model, folding).run()


class _Placing:
    def __init__(self, model: ir.Model, folding: bool) -> None:
        self._graph = model.graph
        self._opsets = model.opset_imports
        self._table: KernelTable = kernel_table()
        self._folding = folding
        self._constant: set[ir.Value] = set(model.graph.initializers.values())
        self._constant -= set(model.graph.inputs)
        self._found = NodePlacement()

    def run(self) -> NodePlacement:
        for node in self._graph:
            self._found.sides[node] = self._side(node)
        self._prefer_host()
        self._found.crossings = tuple(self._crossings())
        return self._found

    def _side(self, node: ir.Node) -> Side:
        if self._is_folded(node):
            self._constant.update(node.outputs)
            return "folded"
        reason = self._why_not_cuda(node)
        if not reason:
            return "cuda"
        self._found.reasons[node] = reason
        return "cpu"

    def _is_folded(self, node: ir.Node) -> bool:
        if node.op_type == "Constant" and not node.domain:
            return True
        if not self._folding or node.op_type in _RANDOM or any(True for _ in bodies(node)):
            return False
        if node.op_type in ("Shape", "Size") and not node.domain:
            return is_static(node.inputs[0])
        inputs = [value for value in node.inputs if value is not None]
        fixed = bool(inputs) and self._constant.issuperset(inputs)
        return fixed and self._missing("cpu", node) is None

    def _missing(self, provider: Provider, node: ir.Node) -> Missing | None:
        since = since_version(node, self._opsets)
        return self._table.missing(provider, full_name(node), since=since, types=_types(node))

    def _why_not_cuda(self, node: ir.Node) -> str:
        missing = self._missing("cuda", node)
        if missing is None:
            return refusal_by_attribute(node)
        version = f" of opset {since_version(node, self._opsets)}" if missing == "version" else ""
        named = ", ".join(dict.fromkeys(kind for kind in _types(node).values() if kind))
        types = f" for {named}" if missing == "types" else ""
        return f"{node.op_type}{version} has no CUDA kernel{types} in {self._table.runtime}"

    def _prefer_host(self) -> None:
        """`GetCpuPreferredNodes`: in graph order, so each node sees what its makers became."""
        sides, host = self._found.sides, set[ir.Value]()
        for node, side in sides.items():
            if side == "cpu" and any(value in host for value in node.inputs):
                host.update(node.outputs)  # the runtime starts from what CUDA nodes give the host
            elif side == "cuda":
                if self._prefers_host(node, host):
                    sides[node] = "cpu"
                    self._found.preferred.add(node)
                    host.update(node.outputs)
                else:
                    host.update(_picked(node.outputs, HOST_OUTPUTS.get(full_name(node))))

    def _prefers_host(self, node: ir.Node, host: set[ir.Value]) -> bool:
        read_on_host = HOST_INPUTS.get(full_name(node), frozenset[int]())
        candidate = False
        for index, value in enumerate(node.inputs):
            if value is None:
                continue
            if type_text(value) in _NARROW:
                return False
            if value in host:
                if index in read_on_host:
                    return False
                candidate = True
            elif not (self._is_small(value) or value.is_graph_input()):
                return False
        return candidate

    def _is_small(self, value: ir.Value) -> bool:
        if value not in self._constant or not is_static(value):
            return False
        return math.prod(dim for dim in value.shape or () if isinstance(dim, int)) <= _SMALL

    def _crossings(self) -> Iterator[Crossing]:
        """Weights are kept on both sides, and the outside copies inputs read on one side only."""
        values = [*self._graph.inputs, *(out for node in self._graph for out in node.outputs)]
        for value in values:
            if value in self._constant:
                continue
            maker = value.producer()
            on_device = maker is not None and not self._made_on_host(value, maker)
            readers = list(self._readers(value))
            across = dict.fromkeys(node for node, host in readers if host == on_device)
            if across and (maker is not None or any(host for _, host in readers)):
                yield Crossing(value, maker, tuple(across), "to host" if on_device else "to device")

    def _made_on_host(self, value: ir.Value, maker: ir.Node) -> bool:
        if self._found.sides[maker] != "cuda":
            return True
        return value in _picked(maker.outputs, HOST_OUTPUTS.get(full_name(maker)))

    def _readers(self, value: ir.Value) -> Iterator[tuple[ir.Node, bool]]:
        """Nodes of this graph that read the value, and whether they do so on the host."""
        for node, index in value.uses():
            side = self._found.sides.get(node)
            if side == "cpu":
                yield node, True
            elif side == "cuda" and node.op_type not in ("Shape", "Size"):  # known on both sides
                yield node, index in HOST_INPUTS.get(full_name(node), ())


def is_static(value: ir.Value | None) -> bool:
    """Whether all sizes are known numbers."""
    shape = value.shape if value is not None else None
    return shape is not None and all(isinstance(dim, int) for dim in shape)


def full_name(node: ir.Node) -> str:
    """The operator with its domain: `com.microsoft:Gelu`, or `Relu` for ONNX's own."""
    return f"{node.domain}:{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type


def since_version(node: ir.Node, opsets: Any) -> int:
    """The opset in which the operator last changed, of those up to the model's."""
    opset = node.version or opsets.get(node.domain) or opsets.get("ai.onnx") or 1
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        return onnx.defs.get_schema(node.op_type, opset, domain).since_version
    except onnx.defs.SchemaError:
        return 1 if domain else opset


def type_text(value: ir.Value | None) -> str:
    """The type as the runtime writes it, such as `seq(tensor(int64))`; empty if unknown."""
    return _type(value.type) if value is not None else ""


def _type(kind: ir.TypeProtocol | None) -> str:
    if isinstance(kind, ir.SequenceType):
        inner = _type(kind.elem_type)
        return f"seq({inner})" if inner else ""
    if isinstance(kind, ir.OptionalType):
        inner = _type(kind.elem_type)
        return f"optional({inner})" if inner else ""
    if isinstance(kind, ir.SparseTensorType):
        return f"sparse_tensor({kind.dtype.name.lower()})"
    if isinstance(kind, ir.TensorType) and kind.dtype != ir.DataType.UNDEFINED:
        return f"tensor({kind.dtype.name.lower()})"
    return ""


def _types(node: ir.Node) -> dict[str, str]:
    """The types of "i0", "i1", …, "o0", …."""
    inputs = {f"i{index}": type_text(value) for index, value in enumerate(node.inputs)}
    return inputs | {f"o{index}": type_text(value) for index, value in enumerate(node.outputs)}


def _picked(values: Iterable[ir.Value], indices: frozenset[int] | None) -> list[ir.Value]:
    return [value for index, value in enumerate(values) if index in (indices or ())]
