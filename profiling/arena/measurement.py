"""An arena after three runs in a worker, read from the runtime's own profile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from optimizer.errors import RunError
from optimizer.isolation import Isolate, Progress
from optimizer.limits import JobLimits
from optimizer.verify import jobs
from profiling.config import RunConfig
from profiling.timeline.events import Run, Timeline
from profiling.timeline.memory import MemoryCurve, memory
from profiling.timeline.recorder import Recorder

_LIMITS = JobLimits(seconds=300.0)
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


def measure_arena(
    model: bytes | Path,
    config: RunConfig | None = None,
    *,
    pool: Isolate,
    sizes: Mapping[str, int] | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> ArenaMeasurement:
    """Run a model three times on inputs that suit it and read what its arena did.

    Args:
        model: the file.
        config: how it is run; by default one thread and none of the runtime's rewrites. Its
            `memory_pattern`, `memory_reuse` and `execution_order` are what is to be compared.
        pool: runs it in a worker process.
        sizes: of free dimensions by name; those left out are guessed, see `shapes` of the result.
        progress: told of, from 0 to 1.
        cancelled: asked now and then.

    Raises:
        RunError: the model does not run, or not on the CPU.
        Cancelled: it was.
    """
    settled = config or RunConfig()
    if settled.device != "cpu":
        raise RunError(f"Only the CPU's arena is measured, not that of {settled.device}.")
    return pool(
        _measured, model.absolute() if isinstance(model, Path) else model, settled,
        dict(sizes or {}), limits=_LIMITS, progress=progress, cancelled=cancelled,
    )  # fmt: skip


def _measured(
    model: bytes | Path,
    config: RunConfig,
    sizes: Mapping[str, int],
    *,
    progress: Progress,
) -> ArenaMeasurement:
    """In the worker."""
    request = jobs.Request(seeds=1, bindings=sizes)
    recorder = Recorder(model, config, request, folder=Path.cwd(), progress=progress)
    for number in range(_RUNS):
        progress(f"profiled run {number + 1} of {_RUNS}", 0.6 + 0.4 * number / _RUNS)
        recorder.run()
    timeline = recorder.finish().timeline
    return arena_of(timeline, recorder.inner_nodes, recorder.input_shapes)


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
