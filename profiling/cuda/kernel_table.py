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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

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
