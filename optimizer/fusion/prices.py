"""What a region takes node by node, as ONNX Runtime runs it, and as one kernel.

Node by node is the prediction of each (`optimizer.cost`), but for operators whose kernel in ONNX
Runtime is known to be slow. One kernel is launched once, reads what the region reads and writes
what is read of it outside, each once, or computes, whichever takes longer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from optimizer.cost.classes import MATRIX, OperatorClass, operator_class
from optimizer.cost.device import Level
from optimizer.cost.devices import X86_CORE
from optimizer.cost.predict import operator_of as listed_as
from optimizer.cost.predict import predict
from optimizer.cost.sizes import Sizes
from optimizer.cost.widths import width_of
from optimizer.operators.catalogue import operator_of

DEVICE = replace(
    X86_CORE,
    source=(
        "One core with AVX-512, as measured with ONNX Runtime 1.31.1 on what elementwise nodes and "
        "generated kernels move, and on a node that does nothing; rates are X86_CORE's."
    ),
    levels=(
        Level("L2", 3 << 19, 45e9),
        Level("L3", 40 << 20, 27e9),
        Level("memory", None, 12e9),
    ),
    launch_us=0.4,
)
"""Where plans are made for."""

SLOW_NS: Mapping[tuple[str, str], float] = {
    ("com.microsoft", "SkipLayerNormalization"): 6.0,  # 64x768 in 296 µs, 197x384 in 457 µs
    ("com.microsoft", "BiasGelu"): 1.46,  # 64x3072 in 287 µs, where Add and Gelu take 220 µs
}
"""Nanoseconds an element of kernels of ONNX Runtime 1.31.1 that are slow: one AVX-512 core."""

BLOCK_NS = 13.0
"""Nanoseconds for each block of at most `BLOCK_BYTES` that ONNX Runtime 1.31.1 moves in a Transpose
that leaves the last axis where it is: 10 to 15, where generated code takes 4 to 9."""
BLOCK_BYTES = 256

_GENERATED_NS: Mapping[str, float] = {
    "Div": 0.1, "Sqrt": 0.1, "Reciprocal": 0.1, "Exp": 0.4, "Erf": 0.45, "Gelu": 0.55,
    "BiasGelu": 0.55, "FastGelu": 0.6, "QuickGelu": 0.5, "Sigmoid": 0.5, "Swish": 0.5, "Tanh": 0.6,
    "Log": 0.5, "Softplus": 0.9, "Mish": 1.2, "Pow": 1.0, "Softmax": 0.4, "LogSoftmax": 0.4,
    "LayerNormalization": 0.2, "SkipLayerNormalization": 0.25, "RMSNormalization": 0.15,
    "SimplifiedLayerNormalization": 0.15, "Sin": 1.0, "Cos": 1.0,
}  # fmt: skip
"""The same of what generated loops compute."""

_SIMPLE_NS = 0.03


@dataclass(frozen=True, slots=True)
class Price:
    """What a region takes, and what it took.

    Attributes:
        separate_us: nodes that go, one after the other.
        kernel_us: the kernel.
        launches: nodes that go and are launched.
        working: those of them that do more than give data another shape.
        separate_bytes: read and written by nodes that go.
        kernel_bytes: read and written by the kernel.
        slow: operators among them whose own kernel is slow.
    """

    separate_us: float
    kernel_us: float
    launches: int
    working: int
    separate_bytes: int
    kernel_bytes: int
    slow: tuple[str, ...]

    @property
    def saved_us(self) -> float:
        """How much less it takes."""
        return self.separate_us - self.kernel_us


class Prices:
    """Predicted times of regions of one graph."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def of(
        self,
        nodes: Sequence[ir.Node],
        leaving: Collection[ir.Node],
        inputs: Iterable[ir.Value],
        outputs: Iterable[ir.Value],
    ) -> Price | None:
        """The price of a region; None where a size or an operator is unknown.

        Args:
            nodes: of the region.
            leaving: those of them that nobody else needs.
            inputs: what the kernel reads.
            outputs: what it writes.
        """
        separate, separate_bytes, launches, working = 0.0, 0, 0, 0
        for node in leaving:
            found = predict(node, self._sizes, DEVICE)
            if found is None:
                return None
            separate += self._slow_us(node) or found.parts.total_us
            separate_bytes += found.cost.bytes_moved
            launches += 1
            working += operator_class(node, self._sizes) != OperatorClass.VIEW
        moved = [self._read_bytes(value, nodes) for value in inputs]
        moved += [self._sizes.size_bytes(value) for value in outputs]
        if None in moved:
            return None
        kernel_bytes = sum(size for size in moved if size is not None)
        compute_us = sum(self._computed_us(node) for node in nodes)
        traffic_us = kernel_bytes / DEVICE.level(kernel_bytes).bytes_per_s * 1e6
        kernel = DEVICE.launch_us + max(compute_us, traffic_us)
        slow = tuple(node.op_type for node in leaving if self.is_slow(node))
        return Price(separate, kernel, launches, working, separate_bytes, kernel_bytes, slow)

    def _read_bytes(self, value: ir.Value, nodes: Collection[ir.Node]) -> int | None:
        """Of an input; where only parts are picked from it, of those."""
        whole = self._sizes.size_bytes(value)
        readers = [use.node for use in value.uses() if use.node in nodes]
        picking = [operator_of(node) for node in readers]
        if whole is None or not all(operator and operator.picks for operator in picking):
            return whole
        parts = [self._sizes.size_bytes(out) for node in readers for out in node.outputs]
        return min(whole, sum(part or 0 for part in parts))

    def is_slow(self, node: ir.Node) -> bool:
        """Whether the runtime's own kernel for a node is slow."""
        return self._slow_us(node) > 0

    def _slow_us(self, node: ir.Node) -> float:
        """What a slow kernel takes; 0 for all others."""
        elements = self._sizes.elements(node.outputs[0]) or 0
        if operator_class(node, self._sizes) == OperatorClass.BLOCK_TRANSPOSE:
            block = width_of(node, OperatorClass.BLOCK_TRANSPOSE, self._sizes)
            size = self._sizes.size_bytes(node.outputs[0])
            if block is None or size is None or not 1 <= block <= BLOCK_BYTES:
                return 0.0
            return size / block * BLOCK_NS / 1e3
        return SLOW_NS.get((node.domain, node.op_type), 0.0) * elements / 1e3

    def _computed_us(self, node: ir.Node) -> float:
        if operator_class(node, self._sizes) == OperatorClass.VIEW:
            return 0.0
        reduces = operator_class(node, self._sizes) in (OperatorClass.REDUCTION, *MATRIX)
        value = node.inputs[0] if reduces else node.outputs[0]
        elements = self._sizes.elements(value) or 0
        return elements * _GENERATED_NS.get(listed_as(node), _SIMPLE_NS) / 1e3
