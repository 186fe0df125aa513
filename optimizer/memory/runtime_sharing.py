"""Which outputs of ONNX Runtime's CPU kernels take the memory of an input.

An alias is the input's memory whatever else reads it. An output in place takes the memory of an
input that nothing else needs any more and that is as large. The runtime does both for far fewer
operators than could: Add, Mul, Sum or BatchNormalization never write over what they read.

Source: the kernels' registrations in ONNX Runtime 1.31 (`Alias`, `MayInplace`), and what its arena
did when each of ONNX's own test cases was run on copies of its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

Pair = tuple[int, int]
"""Position of an input, and of the output that takes its memory."""

_FIRST: tuple[Pair, ...] = ((0, 0),)
_ALIASES: Mapping[tuple[str, str], tuple[Pair, ...]] = {
    ("", name): _FIRST for name in ("Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze")
} | {("", "OptionalGetElement"): _FIRST}
_STATISTICS: tuple[Pair, ...] = ((3, 1), (4, 2))
"""Running mean and variance of a BatchNormalization that takes statistics."""

_ELEMENTWISE = (
    "BitCast", "Celu", "Clip", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Shrink",
    "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu",
)  # fmt: skip
_OTHERS = (
    "LogSoftmax", "Scatter", "ScatterElements", "Softmax", "TensorScatter", "Trilu",
)  # fmt: skip
_IN_PLACE: Mapping[tuple[str, str], tuple[Pair, ...]] = {
    ("", name): _FIRST for name in (*_ELEMENTWISE, *_OTHERS)
}


def aliases(node: ir.Node) -> tuple[Pair, ...]:
    """Outputs that are an input's memory."""
    key = _key(node)
    if key == ("", "BatchNormalization"):
        return _STATISTICS
    return _ALIASES.get(key, ())


def in_place(node: ir.Node) -> tuple[Pair, ...]:
    """Outputs that may be written over an input, the first choice first."""
    return _IN_PLACE.get(_key(node), ())


def _key(node: ir.Node) -> tuple[str, str]:
    return "" if node.domain == "ai.onnx" else node.domain, node.op_type
