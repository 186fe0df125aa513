"""What a region takes node by node, as ONNX Runtime runs it, and as one kernel.

Node by node is the prediction of each (`optimizer.cost`), but for operators whose kernel in ONNX
Runtime was measured. One kernel is launched once, reads what the region reads and writes
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

RUNTIME_NS: Mapping[tuple[str, str], float] = {
    ("com.microsoft", "SkipLayerNormalization"): 6.0,
    ("com.microsoft", "BiasGelu"): 1.46,
    ("com.microsoft", "FastGelu"): 0.55,
    ("com.microsoft", "QuickGelu"): 0.53,
    ("", "LayerNormalization"): 0.55,
    ("", "Gelu"): 0.75,
    ("", "Erf"): 0.67,
    ("", "Sigmoid"): 0.44,
    ("", "Sqrt"): 0.37,
    ("", "Log"): 2.2,
    ("", "Softplus"): 13.0,
}
"""Nanoseconds an element of kernels of ONNX Runtime 1.31.1, one AVX-512 core.

Medians of interleaved runs on an otherwise idle machine: SkipLayerNormalization 64x768 in 296 µs
and 197x384 in 457 µs; BiasGelu 64x3072 in 287 µs, where Add and Gelu take 220; LayerNormalization
0.83 (rows of 256), 0.58 (384), 0.53 (768), 0.84 (96); Gelu 0.70 to 0.80 from 8192 elements to 2.3
million; FastGelu and QuickGelu at 64x768 and 32x1024, the others at 64x768. Generated loops take
half of that or less, but for Sigmoid (two thirds) and FastGelu (four fifths).
"""

SOFTMAX_NS = (0.45, 20.0)
"""The same of its Softmax: an element, and a row; generated loops take `_SOFTMAX_NS`.

Measured so, with generated loops behind: rows of 8 3.8 and 1.6 ns an element, 16 1.6 and 0.96,
32 0.92 and 0.74, 49 0.92 and 0.74, 64 0.66 and 0.59, 128 0.49 and 0.50, 197 0.52 and 0.70.
"""
_SOFTMAX_NS = (0.47, 9.0)

BLOCK_NS = 13.0
"""Nanoseconds for each block of at most `BLOCK_BYTES` that ONNX Runtime 1.31.1 moves in a Transpose
that leaves the last axis where it is: 10 to 15, where generated code takes 4 to 9."""
BLOCK_BYTES = 256

_GENERATED_NS: Mapping[str, float] = {
    "Div": 0.1, "Sqrt": 0.1, "Reciprocal": 0.1, "Exp": 0.18, "Erf": 0.33, "Gelu": 0.38,
    "BiasGelu": 0.38, "FastGelu": 0.43, "QuickGelu": 0.26, "Sigmoid": 0.28, "Swish": 0.28,
    "Tanh": 0.28, "Log": 0.55, "Softplus": 1.3, "Mish": 1.2, "Pow": 1.0, "LayerNormalization": 0.25,
    "SkipLayerNormalization": 0.3, "RMSNormalization": 0.15, "SimplifiedLayerNormalization": 0.15,
    "Sin": 1.0, "Cos": 1.0,
}  # fmt: skip
"""The same of what generated loops compute; measured beside `RUNTIME_NS`, but for Pow, Sin, Cos,
Mish and the norms without a mean, which are estimates."""

_SIMPLE_NS = 0.03
_SLOW = 1.1
"""Times as long as generated loops."""


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
            separate += self._runtime_us(node) or found.parts.total_us
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
        """Whether the runtime's own kernel for a node is slow beside generated loops."""
        own = DEVICE.launch_us + self._computed_us(node)
        return self._runtime_us(node) > _SLOW * own

    def _runtime_us(self, node: ir.Node) -> float:
        """What a kernel of the runtime takes, as measured; 0 for one that was not."""
        elements = self._sizes.elements(node.outputs[0]) or 0
        if operator_class(node, self._sizes) == OperatorClass.BLOCK_TRANSPOSE:
            block = width_of(node, OperatorClass.BLOCK_TRANSPOSE, self._sizes)
            size = self._sizes.size_bytes(node.outputs[0])
            if block is None or size is None or not 1 <= block <= BLOCK_BYTES:
                return 0.0
            return DEVICE.launch_us + size / block * BLOCK_NS / 1e3
        if node.op_type == "Softmax":
            return DEVICE.launch_us + self._softmax_us(node, *SOFTMAX_NS)
        found = RUNTIME_NS.get((node.domain, node.op_type))
        return DEVICE.launch_us + found * elements / 1e3 if found else 0.0

    def _softmax_us(self, node: ir.Node, element_ns: float, row_ns: float) -> float:
        """Of rows along the last axis; of all others as if they were long."""
        axis, shape = node.attributes.get("axis"), node.outputs[0].shape
        elements = self._sizes.elements(node.outputs[0]) or 0
        last = None if shape is None or not len(shape) else shape[-1]
        along = axis is None or axis.as_int() in (-1, 0 if shape is None else len(shape) - 1)
        rows = elements / last if isinstance(last, int) and last and along else 0
        return (elements * element_ns + rows * row_ns) / 1e3

    def _computed_us(self, node: ir.Node) -> float:
        if operator_class(node, self._sizes) == OperatorClass.VIEW:
            return 0.0
        if node.op_type in ("Softmax", "LogSoftmax"):
            return self._softmax_us(node, *_SOFTMAX_NS)
        reduces = operator_class(node, self._sizes) in (OperatorClass.REDUCTION, *MATRIX)
        value = node.inputs[0] if reduces else node.outputs[0]
        elements = self._sizes.elements(value) or 0
        return elements * _GENERATED_NS.get(listed_as(node), _SIMPLE_NS) / 1e3
