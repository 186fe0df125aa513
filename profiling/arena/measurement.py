"""What is known of an arena after a few runs, read from the runtime's own profile."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from optimizer.errors import RunError
from profiling.timeline.events import Run, Timeline
from profiling.timeline.memory import MemoryCurve, memory

_RUNS = 3
"""The first traces what is needed when, the second gets the block, the third is settled."""


@dataclass(frozen=True, slots=True)
class ArenaMeasurement:
    """The arena of one session on the CPU.

    Attributes:
        order: names of the main graph's nodes as they ran; the runtime leaves constants out.
        live_bytes: requested after each of them in the first run, before its inputs are given
            back; what was there before the first node is subtracted.
        live_peak_bytes: the largest of them.
        block_bytes: the block that the runtime allocates for all activations from the second run
            on; 0 where it plans none.
        held_bytes: what the arena has from the system in the end.
        base_bytes: requested before the first run: weights in a kernel's own layout.
        shapes: of the inputs in these runs.
    """

    order: tuple[str, ...]
    live_bytes: tuple[int, ...]
    live_peak_bytes: int
    block_bytes: int
    held_bytes: int
    base_bytes: int
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])


def arena_of(
    timeline: Timeline, inner: Collection[str], shapes: Mapping[str, tuple[int, ...]]
) -> ArenaMeasurement:
    """Read a profile of three runs.

    Args:
        timeline: the profile.
        inner: names of nodes in bodies, which are part of the node that owns them.
        shapes: of the inputs.

    Raises:
        RunError: the runtime told nothing of its arena.
    """
    if len(timeline.runs) < _RUNS:
        raise RunError(f"The profile has {len(timeline.runs)} runs; an arena needs {_RUNS}.")
    runs = [_in_order(run, inner) for run in timeline.runs]
    first, last = _curve(runs[0]), _curve(runs[_RUNS - 1])
    return ArenaMeasurement(
        order=tuple(event.node for event in runs[0].events),
        live_bytes=first.live_bytes,
        live_peak_bytes=first.peak_bytes,
        block_bytes=last.base_bytes - first.base_bytes,
        held_bytes=max(last.held_bytes, default=0),
        base_bytes=first.base_bytes,
        shapes=dict(shapes),
    )


def _in_order(run: Run, inner: Collection[str]) -> Run:
    """Only the main graph's nodes, one after the other, also where they took no time at all."""
    events = [event for event in run.events if event.node not in inner]
    return replace(
        run, events=tuple(sorted(events, key=lambda event: (event.start_us, event.end_us)))
    )


def _curve(run: Run) -> MemoryCurve:
    curve = memory(run)
    if curve.source != "runtime":
        raise RunError("The runtime does not tell how its arena is used; it needs version 1.31.")
    return curve
