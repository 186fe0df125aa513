"""Latencies of cut points from several races on one scale, so that differences telescope.

Every round of a race gives the logarithm of each point's median latency; what a hiccup of the
machine did to a single block is pulled in to four deviations. A model with one level a point and
one offset a race, fitted by least squares with every race weighed by its precision, puts races with
different points on one scale. Any bar is the difference of two levels: neighbouring bars add up to
the whole, exactly. With one undisturbed race a bar is about what `contrast` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from profiling.racing.race import Race
from profiling.racing.samples import CONFIDENCE, MIN_ROUNDS, SMALLEST_EFFECT

Span = tuple[int, int]
"""From the model after the first step to the model after the second one."""

Numbers = NDArray[np.float64]

MOST_LOG = 3.0
"""Intervals are told and drawn up to twenty times faster or slower."""

_EDGE = 4.0
_TO_SIGMA = 1.4826
"""A normal distribution's standard deviation, in median absolute deviations."""

_ENOUGH = 4
"""Rounds, or degrees of freedom, from which on a race's own scatter is believed."""

_LEAST_VARIANCE = 1e-8


@dataclass(frozen=True, slots=True)
class Heat:
    """One interleaved race of cut points.

    Attributes:
        steps: of the trace, one for each of the race's timings.
    """

    steps: tuple[int, ...]
    race: Race


@dataclass(frozen=True, slots=True)
class Speedup:
    """How much faster the model became over one or several spans, as a natural logarithm.

    Attributes:
        log: logarithm of the speed-up; above 0 is faster.
        low: lower end of the 95 % interval.
        high: upper end.
        rounds: of all races it rests on.
    """

    log: float
    low: float
    high: float
    rounds: int

    @property
    def speedup(self) -> float:
        """Latency before divided by latency after."""
        return exp(self.log)

    @property
    def interval(self) -> str:
        """The interval of the speed-up in words: "95 % interval 1.08–1.16"."""
        if max(-self.low, self.high) > MOST_LOG:
            return "too few rounds for an interval"
        return f"95 % interval {exp(self.low):.2f}–{exp(self.high):.2f}"

    @property
    def clear(self) -> bool:
        """Whether it may be called a difference: 0 is outside and 1 % is not."""
        if self.rounds < MIN_ROUNDS:
            return False
        least = log(1 + SMALLEST_EFFECT)
        return (self.low > 0 and self.high > least) or (self.high < 0 and self.low < -least)


@dataclass(frozen=True, slots=True)
class _Scatter:
    """Variance of a block, apart from what its round and its point have in common."""

    variance: float
    freedom: int


class Levels:
    """The fitted levels.

    Attributes:
        points: steps that were measured, in order.
    """

    def __init__(self, heats: Sequence[Heat]) -> None:
        """Fit.

        Args:
            heats: each with the first and the last point among its steps; variants that failed or
                computed something else are left out.
        """
        self._rounds = [_rounds(heat) for heat in heats]
        self.points = tuple(sorted({step for steps, _ in self._rounds for step in steps}))
        self._blocks = _scatters([logs for _, logs in self._rounds])
        self._solution = self._solve()
        means = np.concatenate([logs.mean(axis=0) for _, logs in self._rounds])
        self._levels: Numbers = self._solution @ means

    def _solve(self) -> Numbers:
        """The matrix that turns all races' mean log latencies into levels; the first level is 0."""
        index = {step: column for column, step in enumerate(self.points[1:])}
        rows: list[Numbers] = []
        weights: list[float] = []
        for number, (steps, logs) in enumerate(self._rounds):
            precision = sqrt(len(logs) / self._blocks[number].variance)
            for step in steps:
                row = np.zeros(len(index) + len(self._rounds))
                row[len(index) + number] = 1.0
                if step in index:
                    row[index[step]] = 1.0
                rows.append(row)
                weights.append(precision)
        scale = np.array(weights)
        inverse = np.linalg.pinv(np.array(rows) * scale[:, None]) * scale[None, :]
        picked = np.vstack([np.zeros(len(rows)), inverse[: len(index)]])
        return picked.astype(np.float64)

    def change(self, *spans: Span) -> Speedup:
        """What happened over these spans together, with its interval.

        The interval is Student's, with Welch's degrees of freedom where several races take part.
        """
        pick = np.zeros(len(self.points))
        for first, last in spans:
            pick[self.points.index(first)] += 1.0
            pick[self.points.index(last)] -= 1.0
        estimate = float(pick @ self._levels)
        half, rounds = self._half_width(pick @ self._solution)
        return Speedup(estimate, estimate - half, estimate + half, rounds)

    def _half_width(self, weights: Numbers) -> tuple[float, int]:
        """Of the interval, from the scatter between rounds; where they are few, of all blocks."""
        parts: list[tuple[float, float]] = []
        rounds = start = 0
        for (steps, logs), block in zip(self._rounds, self._blocks, strict=True):
            part = weights[start : start + len(steps)]
            start += len(steps)
            if np.allclose(part, 0):
                continue
            count = len(logs)
            rounds += count
            if count >= _ENOUGH:
                parts.append((float((logs @ part).var(ddof=1)) / count, count - 1))
            else:
                parts.append((block.variance * float(part @ part) / count, block.freedom))
        if any(freedom == 0 for _, freedom in parts):
            return inf, rounds
        total = sum(variance for variance, _ in parts)
        if not total:
            return 0.0, rounds
        freedom = total**2 / sum(variance**2 / freedom for variance, freedom in parts)
        return student(freedom) * sqrt(total), rounds


def student(freedom: float) -> float:
    """Student's two-sided quantile for `CONFIDENCE`; within 1 % from 3 degrees of freedom on.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))


def _rounds(heat: Heat) -> tuple[tuple[int, ...], Numbers]:
    """The steps that count, and their log medians, one row a round."""
    timed = [
        (step, timing.blocks_ms)
        for step, timing in zip(heat.steps, heat.race.timings, strict=True)
        if timing.believable and timing.blocks_ms
    ]
    count = min(len(blocks) for _, blocks in timed)
    logs = [[log(float(np.median(block))) for block in blocks[:count]] for _, blocks in timed]
    return tuple(step for step, _ in timed), _pulled_in(np.array(logs, np.float64).T)


def _pulled_in(logs: Numbers) -> Numbers:
    """Logarithms of times; outliers, far off their round and their point, moved to the edge.

    Source: winsorizing, Huber 1981, Robust Statistics.
    """
    expected = np.median(logs, axis=1, keepdims=True)
    expected = expected + np.median(logs - expected, axis=0, keepdims=True)
    edge = _EDGE * _TO_SIGMA * float(np.median(np.abs(logs - expected)))
    return expected + np.clip(logs - expected, -edge, edge) if edge else logs


def _scatters(races: Sequence[Numbers]) -> list[_Scatter]:
    """Of the blocks of each race; a race with few rounds is taken to scatter like all others."""
    found = [_scatter(logs) for logs in races]
    freedom = sum(own.freedom for own in found)
    pooled = sum(own.variance * own.freedom for own in found) / max(1, freedom)
    everything = _Scatter(max(pooled, _LEAST_VARIANCE), freedom)
    return [own if own.freedom >= _ENOUGH else everything for own in found]


def _scatter(logs: Numbers) -> _Scatter:
    rest = logs - logs.mean(axis=1, keepdims=True)
    rest = rest - rest.mean(axis=0, keepdims=True)
    freedom = (logs.shape[0] - 1) * (logs.shape[1] - 1)
    return _Scatter(max(float((rest**2).sum()) / max(1, freedom), _LEAST_VARIANCE), freedom)
