"""Which operators the runtime has kernels for, on CUDA and on the CPU, by version and type.

`kernels.json` is read out of the runtime by `benchmarks.read_kernels` and names its version:

    {"runtime": "onnxruntime-gpu 1.31.1", "types": ["tensor(float)", …],
     "cuda": {"Conv": [[first, last, {"i0": bits of the types}], …]}, "cpu": …}

`last` is 0 where the kernel holds for that operator version alone. Which inputs and outputs lie in
the host's memory the kernel registrations say in the runtime's source, but not to Python, so that
list is kept here, as are rules by attribute.
Source: the runtime's `KernelRegistry::VerifyKernelDef`; `onnxruntime/core/providers/cuda`;
`CUDAExecutionProvider::GetCapability`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import onnx_ir as ir

FILE = Path(__file__).with_name("kernels.json")

Provider = Literal["cuda", "cpu"]
Missing = Literal["operator", "version", "types"]


@dataclass(frozen=True, slots=True)
class KernelTable:
    """The kernels of one runtime.

    Attributes:
        runtime: package and version that was read.
    """

    runtime: str
    _bits: Mapping[str, int]
    _kernels: Mapping[str, Mapping[str, list[tuple[int, int, dict[str, int]]]]]

    def missing(
        self, provider: Provider, operator: str, *, since: int, types: Mapping[str, str]
    ) -> Missing | None:
        """What no kernel fits; None where one fits all.

        Args:
            provider: whose kernels.
            operator: with its domain, unless that is ONNX's own.
            since: the version in which the operator last changed.
            types: of "i0", "o1", … as the runtime names them, such as `tensor(float)`; an empty
                text, or none, fits everything.
        """
        kernels = self._kernels[provider].get(operator)
        if kernels is None:
            return "operator"
        fitting = [one for first, last, one in kernels if first == since or first < since <= last]
        if not fitting:
            return "version"
        fits = any(all(self._allows(mask, types.get(a)) for a, mask in k.items()) for k in fitting)
        return None if fits else "types"

    def _allows(self, mask: int, kind: str | None) -> bool:
        return not kind or bool(mask & self._bits.get(kind, 0))


@functools.cache
def kernel_table() -> KernelTable:
    """The table that comes with Passlens."""
    document: dict[str, Any] = json.loads(FILE.read_text())
    bits = {kind: 1 << index for index, kind in enumerate(document["types"])}
    kernels = cast("Any", {provider: document[provider] for provider in ("cuda", "cpu")})
    return KernelTable(document["runtime"], bits, kernels)


_REDUCTIONS = "Max Mean Min Prod Sum SumSquare L1 L2 LogSum LogSumExp"

_INPUTS: Mapping[tuple[int, ...], str] = {
    (0,): "ConstantOfShape If",
    (0, 1): "Loop",
    (0, 1, 2): "Range",
    (1,): "Reshape Expand Tile Squeeze Unsqueeze Upsample TopK OneHot CumSum Split Trilu SequenceAt"
    " SequenceErase " + " ".join(f"Reduce{kind}" for kind in _REDUCTIONS.split()),
    (1, 2): "Dropout Clip",
    (1, 2, 3): "Pad Resize",
    (1, 2, 3, 4): "Slice",
    (2,): "SequenceInsert",
    (2, 3, 4): "NonMaxSuppression",
    (4,): "LSTM GRU RNN",
    (6,): "com.microsoft:GroupQueryAttention",
}

HOST_INPUTS: Mapping[str, frozenset[int]] = {
    name: frozenset(indices) for indices, names in _INPUTS.items() for name in names.split()
}
"""Operator -> its inputs that the kernel reads on the host."""

HOST_OUTPUTS: Mapping[str, frozenset[int]] = {
    "Shape": frozenset({0}),
    "Size": frozenset({0}),
    "SequenceLength": frozenset({0}),
}

_PLAIN_ACTIVATIONS: Mapping[str, tuple[str, ...]] = {
    "LSTM": ("sigmoid", "tanh", "tanh"),
    "GRU": ("sigmoid", "tanh"),
}


def refusal_by_attribute(node: ir.Node) -> str:
    """Why the provider leaves the node to the CPU although it has a kernel; empty if not."""
    name = node.op_type
    if name in ("LSTM", "GRU", "RNN"):
        return _recurrent(node)
    if name in ("ArgMax", "ArgMin") and node.attributes.get_int("select_last_index", 0):
        return "its CUDA kernel does not know select_last_index"
    if name == "ConvTranspose" and len(node.attributes.get_ints("kernel_shape", ()) or ()) > 3:
        return "its CUDA kernel knows at most three spatial dimensions"
    return ""


def _recurrent(node: ir.Node) -> str:
    if any(key in node.attributes for key in ("activation_alpha", "activation_beta", "clip")):
        return "cuDNN's cells have no clipping and no activation parameters"
    wanted = [text.lower() for text in node.attributes.get_strings("activations", ()) or ()]
    plain = _PLAIN_ACTIVATIONS.get(node.op_type)
    if plain is not None and wanted:
        directions = max(1, len(wanted) // len(plain))
        if tuple(wanted) != plain * directions:
            return "cuDNN's cells have fixed activations"
    if node.op_type == "LSTM" and (
        node.attributes.get_int("input_forget", 0)
        or (len(node.inputs) > 7 and node.inputs[7] is not None)
    ):
        return "cuDNN's LSTM has no peepholes and no coupled gates"
    if node.op_type == "GRU" and not node.attributes.get_int("linear_before_reset", 0):
        return "cuDNN's GRU needs linear_before_reset"
    return ""
