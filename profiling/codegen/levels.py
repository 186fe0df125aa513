"""The level of this machine's processor, as the shim reads it, too."""

from __future__ import annotations

from collections.abc import Mapping

from profiling.codegen.kernel import LEVELS, CpuLevel, LibraryError
from profiling.processor import flags

_NEEDED: Mapping[CpuLevel, frozenset[str]] = {
    "baseline": frozenset({"sse4_1"}),
    "avx2": frozenset({"avx2", "fma", "f16c", "bmi1", "bmi2"}),
    "avx512": frozenset({"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"}),
}


def levels_here() -> tuple[CpuLevel, ...]:
    """All levels that this processor has.

    Raises:
        LibraryError: it has none.
    """
    return LEVELS[: LEVELS.index(cpu_level()) + 1]


def cpu_level() -> CpuLevel:
    """The best level that this processor has.

    Raises:
        LibraryError: it has none.
    """
    here = flags()
    if not _NEEDED["baseline"] <= here:
        raise LibraryError("Generated kernels need a processor with SSE4.1.")
    best: CpuLevel = "baseline"
    for level in LEVELS[1:]:
        if not _NEEDED[level] <= here:
            break
        best = level
    return best
