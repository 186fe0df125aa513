"""Measuring an arena: three runs in a worker process with the runtime's profiler on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from optimizer.errors import RunError
from optimizer.isolation import Isolate, Progress
from optimizer.limits import JobLimits
from optimizer.verify import jobs
from profiling.arena.measurement import ArenaMeasurement, arena_of
from profiling.config import RunConfig
from profiling.timeline.recorder import Recorder

_LIMITS = JobLimits(seconds=300.0)
_RUNS = 3


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
