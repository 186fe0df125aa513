"""Which operators the runtime has kernels for, on CUDA and on the CPU, by version and type.

`kernels.json` is read out of the runtime by `benchmarks.read_kernels` and names its version:

    {"runtime": "onnxruntime-gpu 1.31.1", "types": ["tensor(float)", …],
     "cuda": {"Conv": [[first, last, {"i0": bits of the types}], …]}, "cpu": …}

`last` is 0 where the kernel holds for that operator version alone.
Source: the runtime's `KernelRegistry::VerifyKernelDef`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

FILE = Path(__file__).with_name("kernels.json")

Provider = Literal["cuda", "cpu"]


@dataclass(frozen=True, slots=True)
class Arguments:
    """Types of a node's inputs and outputs as the runtime names them, such as `tensor(float)`.

    An empty text is an argument that is missing or whose type is not known: it fits everything.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]

    def of(self, name: str) -> str:
        """The type of "i0", "o1", …; empty if there is none."""
        arguments = self.inputs if name[0] == "i" else self.outputs
        index = int(name[1:])
        return arguments[index] if index < len(arguments) else ""


@dataclass(frozen=True, slots=True)
class KernelTable:
    """The kernels of one runtime.

    Attributes:
        runtime: package and version that was read.
    """

    runtime: str
    _bits: Mapping[str, int]
    _kernels: Mapping[str, Mapping[str, list[tuple[int, int, dict[str, int]]]]]

    def known(self, provider: Provider, domain: str, op_type: str) -> bool:
        """Whether there is any kernel of that name, whatever the version and types."""
        return _full_name(domain, op_type) in self._kernels[provider]

    def fits_version(self, provider: Provider, domain: str, op_type: str, since: int) -> bool:
        """Whether there is a kernel for the operator as it is since that version."""
        kernels = self._kernels[provider].get(_full_name(domain, op_type), [])
        return any(_in_range(since, first, last) for first, last, _ in kernels)

    def fits(
        self, provider: Provider, domain: str, op_type: str, *, since: int, types: Arguments
    ) -> bool:
        """Whether there is a kernel for the operator as it is since that version, and its types."""
        return any(
            _in_range(since, first, last) and self._fits_types(allowed, types)
            for first, last, allowed in self._kernels[provider].get(_full_name(domain, op_type), [])
        )

    def _fits_types(self, allowed: Mapping[str, int], types: Arguments) -> bool:
        for argument, mask in allowed.items():
            actual = types.of(argument)
            if actual and not mask & self._bits.get(actual, 0):
                return False
        return True


@functools.cache
def kernel_table() -> KernelTable:
    """The table that comes with Passlens."""
    document: dict[str, Any] = json.loads(FILE.read_text())
    bits = {kind: 1 << index for index, kind in enumerate(document["types"])}
    kernels = cast("Any", {provider: document[provider] for provider in ("cuda", "cpu")})
    return KernelTable(document["runtime"], bits, kernels)


def _full_name(domain: str, op_type: str) -> str:
    return f"{domain}:{op_type}" if domain not in ("", "ai.onnx") else op_type


def _in_range(since: int, first: int, last: int) -> bool:
    return first == since or first < since <= last
