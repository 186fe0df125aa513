"""Whether there is memory enough to run a model for a check."""

from __future__ import annotations

from pathlib import Path

from optimizer.limits import MIB, JobLimits
from optimizer.numbers import bytes_text

COPIES = 2
"""Of the weights, while the runtime runs them: as they are, and as its kernels want them."""

LARGE_BYTES = 128 * MIB
"""Of weights, from which on they are worth running slowly for less memory."""


def is_large(weight_bytes: int) -> bool:
    """Whether a model with so many bytes of weights runs in as little memory as it can."""
    return weight_bytes >= LARGE_BYTES


def memory_problem(weight_bytes: int) -> str:
    """Why a model with so many bytes of weights is not run; empty if it is."""
    needed = COPIES * weight_bytes
    limit = JobLimits().memory_bytes
    free = available_bytes()
    most = free if limit is None else min(limit, free)
    if needed <= most:
        return ""
    return (
        f"its weights take {bytes_text(weight_bytes)}, and running it takes about "
        f"{bytes_text(needed)} of memory (limit {bytes_text(most)})."
    )


def available_bytes() -> int:
    """Memory that a new process can have without others losing theirs."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel says how much memory is available")
