"""Memory over a run: from the runtime's allocator, or from the sizes of what is still needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from profiling.timeline.events import Event, Run

MemorySource = Literal["runtime", "output sizes", "device"]


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Memory over one run.

    Attributes:
        source: `runtime` for what its allocator reported; `output sizes` for the sizes of outputs
            that are still needed, where it did not; `device` for the memory of a GPU in use, as its
            driver tells it.
        times_us: since the run began.
        live_bytes: what activations occupy after each operator; of a `device`, all that is taken.
        held_bytes: what the arena holds; runtime only, else empty.
        used_bytes: what is in use of it: requests rounded up, weights that were repacked included;
            runtime only, else empty.
        base_bytes: requested before the first operator: weights that were repacked, and in later
            runs the block planned for all activations.
        high_bytes: most that was in use since the session began, at the end of the run; 0 where the
            runtime does not tell.
    """

    source: MemorySource
    times_us: tuple[float, ...]
    live_bytes: tuple[int, ...]
    held_bytes: tuple[int, ...]
    used_bytes: tuple[int, ...] = ()
    base_bytes: int = 0
    high_bytes: int = 0

    @property
    def peak_bytes(self) -> int:
        """The largest of `live_bytes`."""
        return max(self.live_bytes, default=0)


def memory(run: Run, *, consumers: Mapping[str, Iterable[str]] | None = None) -> MemoryCurve:
    """Memory over a run, from the runtime's allocator where it tells.

    From the second run on the runtime has planned one block for everything, which then counts as
    in use throughout: look at the first run for the shape of the curve.

    Args:
        run: to look at.
        consumers: names of the nodes that read a node's outputs, for runtimes that tell nothing;
            a node that is not in it is taken to be needed until the end.
    """
    times = tuple(event.end_us - run.start_us for event in run.events)
    samples = [event.memory for event in run.events if event.memory is not None]
    if samples and len(samples) == len(run.events):
        # What is in use before the first operator is weights, not activations.
        base = max(0, samples[0].requested - run.events[0].memory_change)
        live = tuple(max(0, sample.requested - base) for sample in samples)
        return MemoryCurve(
            "runtime",
            times,
            live,
            held_bytes=tuple(sample.held for sample in samples),
            used_bytes=tuple(sample.in_use for sample in samples),
            base_bytes=base,
            high_bytes=max(sample.peak for sample in samples),
        )
    return MemoryCurve("output sizes", times, _live_bytes(run.events, consumers or {}), ())


def _live_bytes(events: Sequence[Event], consumers: Mapping[str, Iterable[str]]) -> tuple[int, ...]:
    """Bytes of outputs that exist after each event: made, and not yet read for the last time."""
    position = {event.node: index for index, event in enumerate(events)}
    change = [0] * (len(events) + 1)
    for index, event in enumerate(events):
        readers = [position[name] for name in consumers.get(event.node, ()) if name in position]
        last = max(readers, default=len(events) - 1)
        change[index] += event.output_bytes
        change[max(last, index) + 1] -= event.output_bytes
    # An operator's inputs are given back after it, hence still count at its end.
    total = 0
    live: list[int] = []
    for step in change[:-1]:
        total += step
        live.append(total)
    return tuple(live)
