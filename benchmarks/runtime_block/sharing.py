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
_STATISTICS: tuple[Pair, ...] = ((3, 1), (4, 2))
"""Running mean and variance of a BatchNormalization that takes statistics."""
_SUM: tuple[Pair, ...] = ((3, 0),)
"""What a fused convolution adds to its result."""

_ALIASES: Mapping[tuple[str, str], tuple[Pair, ...]] = {
    ("", "BatchNormalization"): _STATISTICS,
    ("", "Flatten"): _FIRST,
    ("", "Identity"): _FIRST,
    ("", "OptionalGetElement"): _FIRST,
    ("", "Reshape"): _FIRST,
    ("", "Squeeze"): _FIRST,
    ("", "Unsqueeze"): _FIRST,
}
_IN_PLACE: Mapping[tuple[str, str], tuple[Pair, ...]] = {
    ("com.microsoft", "FusedConv"): _SUM,
    **{
        ("", name): _FIRST
        for name in (
            "BitCast", "Cast", "CastLike", "Celu", "Clip", "Elu", "HardSigmoid", "LeakyRelu",
            "LogSoftmax", "Relu", "Scatter", "ScatterElements", "Selu", "Shrink", "Sigmoid",
            "Softmax", "Softplus", "Softsign", "Tanh", "TensorScatter", "ThresholdedRelu", "Trilu",
        )
    },
}  # fmt: skip
_FLOAT_ONLY = frozenset({("", "LogSoftmax"), ("", "Softmax")})
"""Their kernels for double write elsewhere."""


def aliases(node: ir.Node) -> tuple[Pair, ...]:
    """Outputs that are an input's memory."""
    return _ALIASES.get(_key(node), ())


def in_place(node: ir.Node) -> tuple[Pair, ...]:
    """Outputs that may be written over an input, the first choice first."""
    key = _key(node)
    if key in _FLOAT_ONLY and node.outputs[0].dtype != ir.DataType.FLOAT:
        return ()
    return _IN_PLACE.get(key, ())


def shared_operators() -> tuple[tuple[str, str], ...]:
    """Domain and name of every operator here."""
    return tuple(sorted({*_ALIASES, *_IN_PLACE}))


def _key(node: ir.Node) -> tuple[str, str]:
    return "" if node.domain == "ai.onnx" else node.domain, node.op_type
