"""What a variant did in a few runs with the runtime's profiler on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from profiling.timeline.events import Run, Timeline
from profiling.timeline.memory import MemoryCurve

Phase = Literal["first", "steady"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A timeline and, for each of its runs, the memory.

    Attributes:
        memory: one curve a run; each says where its numbers are from.
        kernels: for each operator as it ran the names of the file's nodes that it computes.
        device: the GPU's memory over each run; empty without a GPU, or if it cannot be sampled.
        device_missing: why it could not be sampled; empty if it was, or nothing ran on a GPU.
    """

    timeline: Timeline
    memory: tuple[MemoryCurve, ...]
    kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    device: tuple[MemoryCurve, ...] = ()
    device_missing: str = ""

    def run_index(self, phase: Phase) -> int | None:
        """Which run stands for a phase: the first, or of the later ones the one in the middle."""
        runs = self.timeline.runs
        if phase == "first" or len(runs) < 2:
            return 0 if runs else None
        later = sorted(range(1, len(runs)), key=lambda index: runs[index].duration_us)
        return later[(len(later) - 1) // 2]

    def run(self, phase: Phase) -> Run | None:
        """The run that stands for a phase; None if there is none."""
        index = self.run_index(phase)
        return None if index is None else self.timeline.runs[index]
