"""Transposes timed as written and reduced, beside a plain copy of as many bytes.

The three take turns in one process, in one thread, into memory that is there before; what the same
model takes without a Transpose is taken off. Times are medians over all turns; the gain of the
reduced one has a 95 % interval by bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import Cancelled, StudioError
from optimizer.isolation import Progress, silent
from optimizer.layout.transposes import MovedTensor
from optimizer.limits import JobLimits
from profiling.transposes.model import models_of
from profiling.transposes.turns import turns
from profiling.workers import WorkerPool

LEAST_US = 0.1
FAR = 0.5
"""Of a plain copy's rate: what is slower is far from it."""

_LIMITS = JobLimits(seconds=120)
_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class TransposeTimes:
    """One Transpose measured.

    Attributes:
        tensor: what it moves.
        written_us: as written, without what the model around it takes.
        reduced_us: as `reduce-transposes` writes it, likewise.
        copy_us: a plain copy.
        gain: how many times as fast the reduced one is.
        interval: of the gain, 95 %.
        error: why there are no times; "" where there are.
    """

    tensor: MovedTensor
    written_us: float = 0.0
    reduced_us: float = 0.0
    copy_us: float = 0.0
    gain: float = 1.0
    interval: tuple[float, float] = (1.0, 1.0)
    error: str = ""

    def rate_gbps(self, us: float) -> float:
        """GB/s of what is read and what is written, in such a time."""
        return 2 * self.tensor.size_bytes / us / 1e3

    @property
    def share(self) -> float:
        """What part of a copy's rate the faster way reaches."""
        return self.copy_us / min(self.written_us, self.reduced_us)


def measure_transposes(
    tensors: Sequence[MovedTensor],
    *,
    pool: WorkerPool,
    seconds: float,
    progress: Progress = silent,
    cancelled: Callable[[], bool] | None = None,
    observe: Callable[[tuple[TransposeTimes, ...]], None] = lambda _: None,
) -> tuple[TransposeTimes, ...]:
    """Measure them one after the other; what the runtime refuses leaves its reason.

    Args:
        tensors: each once.
        pool: gives the worker; nothing else is timed meanwhile.
        seconds: for each of them.
        progress: told which one, and which share is done.
        cancelled: asked often.
        observe: gets those measured so far, after each.

    Raises:
        Cancelled: it was.
    """
    found: list[TransposeTimes] = []
    with pool.measuring(cancelled=cancelled) as bench:
        worker = bench.worker()
        for number, tensor in enumerate(tensors):
            progress(tensor.text, number / len(tensors))
            if not worker.alive:
                worker = bench.worker()
            try:
                times = worker.run(
                    turns, tensor, seconds, *models_of(tensor), limits=_LIMITS, cancelled=cancelled
                )
                found.append(compared(tensor, np.array(times)))
            except Cancelled:
                raise
            except StudioError as error:
                found.append(TransposeTimes(tensor, error=error.message))
            observe(tuple(found))
    return tuple(found)


def compared(tensor: MovedTensor, times: NDArray[np.float64]) -> TransposeTimes:
    """Medians of a Transpose in both ways and of a copy, and the gain with its interval.

    Args:
        tensor: that was moved.
        times: microseconds of shape [4, turns]: without a Transpose, as written, reduced, a copy.
    """
    picks = np.random.default_rng(0).integers(0, times.shape[1], (_DRAWS, times.shape[1]))
    empty, written, reduced, copy = map(float, np.median(times, axis=1))
    draws = np.median(times[:3, picks], axis=2)
    gains = (draws[1] - draws[0]) / np.maximum(draws[2] - draws[0], LEAST_US)
    low, high = (float(np.quantile(gains, end)) for end in (0.025, 0.975))
    ways = max(written - empty, LEAST_US), max(reduced - empty, LEAST_US)
    return TransposeTimes(tensor, *ways, copy, ways[0] / ways[1], (low, high))
