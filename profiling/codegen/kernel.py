"""A kernel before it is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from optimizer.errors import RunError
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule

CpuLevel = Literal["baseline", "avx2", "avx512"]
"""What a kernel may use of a processor: SSE4.1; AVX2 with FMA; AVX-512 as Skylake's servers."""
LEVELS: tuple[CpuLevel, ...] = get_args(CpuLevel)
VECTOR_BITS: Mapping[CpuLevel, int] = {"baseline": 128, "avx2": 256, "avx512": 512}

GeneratorId = Literal["halide", "c"]
"""Who writes a kernel's code."""
GENERATOR_IDS: tuple[GeneratorId, ...] = get_args(GeneratorId)


class LibraryError(RunError):
    """Kernels cannot be compiled here, or their library cannot be loaded."""


class KernelRefused(LibraryError):
    """A generator has no code for this kernel; it may have some for others."""


@dataclass(frozen=True)
class Kernel:
    """A kernel before it is compiled.

    Attributes:
        name: of its operator, and of its function in C: letters, digits and underscores.
        schedule: the order of its loops; None for the default one of each level.
        generator: who writes its code.
        workload: what it computes, in a few words for people.
    """

    name: str
    algorithm: Algorithm
    schedule: Schedule | None
    generator: GeneratorId
    workload: str
