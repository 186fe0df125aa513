"""What a variant did in a few runs with the runtime's profiler on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from profiling.timeline.events import Run, Timeline
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profiler_cost import ProfilerCost
from profiling.timeline.stretches import typical

Phase = Literal["first", "steady"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A timeline and, for each of its runs, the memory.

    Times of nodes are read from `first` and `steady`.

    Attributes:
        timeline: as the runtime wrote it, its profiler's own time included.
        memory: one curve a run; each says where its numbers are from.
        kernels: for each operator as it ran the names of the file's nodes that it computes.
        device: the GPU's memory over each run; empty without a GPU, or if it cannot be sampled.
        device_missing: why it could not be sampled; empty if it was, or nothing ran on a GPU.
        profiler: what the profiler itself costs; None where that was not measured, so that nothing
            is taken off.
        left_out: why kernels of its file are not in their library, a sentence for each; their
            operators ran.
        first: the first run, without what the profiler took.
        steady: the later runs as one, every stretch as long as in their middle, without it.
    """

    timeline: Timeline
    memory: tuple[MemoryCurve, ...]
    kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    device: tuple[MemoryCurve, ...] = ()
    device_missing: str = ""
    profiler: ProfilerCost | None = None
    left_out: tuple[str, ...] = ()
    first: Run | None = field(init=False, compare=False, default=None)
    steady: Run | None = field(init=False, compare=False, default=None)

    def __post_init__(self) -> None:
        runs = self.timeline.runs
        if runs:
            object.__setattr__(self, "first", self.bare(runs[0]))
            object.__setattr__(self, "steady", self.bare(typical(runs[1:] or runs)))

    def bare(self, run: Run) -> Run:
        """A run without what the profiler took."""
        return run if self.profiler is None else self.profiler.taken_off(run)

    def run(self, phase: Phase) -> Run | None:
        """The run that stands for a phase; None if there is none."""
        return self.first if phase == "first" else self.steady

    def run_index(self, phase: Phase) -> int | None:
        """Which run's memory stands for a phase: the first, or of the later ones the middle one."""
        runs = self.timeline.runs
        if phase == "first" or len(runs) < 2:
            return 0 if runs else None
        later = sorted(range(1, len(runs)), key=lambda index: runs[index].duration_us)
        return later[(len(later) - 1) // 2]

    def curves(self, phase: Phase) -> list[MemoryCurve]:
        """The memory that stands for a phase: the runtime's on that run's clock, then the GPU's."""
        index, run = self.run_index(phase), self.run(phase)
        if index is None or run is None:
            return []
        ends_us = tuple(event.end_us - run.start_us for event in run.events)
        told = [replace(curve, times_us=ends_us) for curve in self.memory[index : index + 1]]
        return [*told, *self.device[index : index + 1]]
