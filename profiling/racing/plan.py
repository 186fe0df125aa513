"""How much to run, and where it ends whatever the models do."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from optimizer.limits import JobLimits
from optimizer.verify import Tolerance, jobs

BLOCK_MS = 60.0
"""A block runs about this long: much longer than a switch of processes, much shorter than drift."""

MOST_BLOCK_RUNS = 200
"""Every run is kept, so that a block of a tiny model is shorter than it could be."""

_SHARE_OF_MEMORY = 0.8
_WARM_UP_SHARE = 0.5
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class RacePlan:
    """How much to run.

    Attributes:
        runs: steady runs of each variant at least, if they fit into the time.
        seconds: for the steady state of all variants; warm-up may take half of that again.
        rounds: blocks of each variant at least, if they fit into the time.
        precision: go on until every interval reaches no farther than this share to either side,
            and is sure, or the time is up; 0 to stop after `runs` and `rounds`.
        transfers: on a GPU, whether copies from and to the host belong to a run.
        tolerance: what outputs are held to.
        request: how inputs are filled.
        limits: of every single step of a worker; no step gets more memory than four fifths of
            what the machine has left.
        overall_seconds: of the whole race, whatever is done by then.
    """

    runs: int = 200
    seconds: float = 20.0
    rounds: int = 40
    precision: float = 0.02
    transfers: bool = True
    tolerance: Tolerance = field(default_factory=Tolerance)
    request: jobs.Request = field(default_factory=lambda: jobs.Request(seeds=1))
    limits: JobLimits = field(default_factory=lambda: JobLimits(seconds=300.0))
    overall_seconds: float = 3600.0

    def on_this_machine(self) -> RacePlan:
        """The plan with no more memory than the machine can spare now."""
        spare = available_bytes()
        wanted = self.limits.memory_bytes
        if spare is None:
            return self
        bound = int(_SHARE_OF_MEMORY * spare)
        bound = bound if wanted is None else min(bound, wanted)
        return replace(self, limits=replace(self.limits, memory_bytes=bound))

    def warm_up_seconds(self, variants: int) -> float:
        """Most that one variant's warm-up may take."""
        return _WARM_UP_SHARE * self.seconds / max(1, variants)

    def block_runs(self, latency_ms: float, *, variants: int) -> int:
        """Runs in a block, so that `rounds` of them fit into the time."""
        fair_ms = 1000 * self.seconds / (max(1, variants) * self.rounds)
        wanted = round(min(BLOCK_MS, fair_ms) / max(latency_ms, 1e-3))
        return max(1, min(MOST_BLOCK_RUNS, wanted))


def schedule(count: int) -> Iterator[tuple[int, ...]]:
    """Endless orders of a round's variants.

    Over one cycle each variant comes equally often at every place and equally often right after
    every other one, so that what one leaves behind (caches, heat) meets all alike. The orders of a
    cycle are shuffled, always the same way, so that nothing periodic hits one variant alone.

    Source: Williams 1949, "Experimental designs balanced for the estimation of residual effects".
    """
    zigzag = [0]
    for step in range(1, count):
        zigzag.append((zigzag[-1] + (step if step % 2 else -step)) % count)
    square = [tuple((place + shift) % count for place in zigzag) for shift in range(count)]
    if count % 2 and count > 1:
        square += [order[::-1] for order in square]
    chance = random.Random(0)  # noqa: S311 no secret
    while True:
        chance.shuffle(square)
        yield from square


def available_bytes() -> int | None:
    """Memory the machine, or the container this runs in, has left; None where nobody says."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(line.split()[1]) << 10)
    with contextlib.suppress(OSError, ValueError):
        bound = int((_CGROUP / "memory.max").read_text())
        found.append(bound - int((_CGROUP / "memory.current").read_text()))
    return max(0, min(found)) if found else None
