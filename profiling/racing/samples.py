"""Statistics of latencies: percentiles, the end of warm-up, and which of two is faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["faster", "slower", "no_clear_difference"]

RESAMPLES = 4000
CONFIDENCE = 0.95
SMALLEST_EFFECT = 0.01
"""Less than this share is not called a difference however sure it is."""

MIN_ROUNDS = 5
"""Fewer paired rounds than this give no interval worth showing."""

_MIN_SEGMENT = 3
_MIN_DROP = 0.05
_MIN_GAIN = 0.3


@dataclass(frozen=True, slots=True)
class Summary:
    """Latencies of one variant in milliseconds."""

    runs: int
    min_ms: float
    p50_ms: float
    p90_ms: float
    p95_ms: float
    p99_ms: float
    mean_ms: float
    spread_ms: float
    """Interquartile range."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """How much faster one variant is than another, from rounds in which both ran.

    Attributes:
        speedup: baseline's latency divided by the other's; above 1 is faster.
        low: lower end of the interval.
        high: upper end of the interval.
        rounds: pairs it rests on.
        verdict: what may be claimed.
    """

    speedup: float
    low: float
    high: float
    rounds: int
    verdict: Verdict

    def __str__(self) -> str:
        if self.rounds < MIN_ROUNDS:
            return f"no clear difference (only {self.rounds} rounds)"
        if self.verdict == "no_clear_difference":
            return f"no clear difference (95 % interval {self.low:.2f}–{self.high:.2f})"
        if self.verdict == "faster":
            return f"{self.speedup:.2f}× faster, 95 % interval {self.low:.2f}–{self.high:.2f}"
        inverse = (1 / self.speedup, 1 / self.high, 1 / self.low)
        return "{:.2f}× slower, 95 % interval {:.2f}–{:.2f}".format(*inverse)


def summarize(latencies_ms: Sequence[float]) -> Summary | None:
    """Percentiles, or None for no latencies."""
    if not latencies_ms:
        return None
    values = np.asarray(latencies_ms, np.float64)
    p25, p50, p75, p90, p95, p99 = (
        float(value) for value in np.percentile(values, [25, 50, 75, 90, 95, 99])
    )
    return Summary(
        len(values), float(values.min()), p50, p90, p95, p99, float(values.mean()), p75 - p25
    )


def warm_after(latencies_ms: Sequence[float]) -> int:
    """Runs until the latency has settled: 0 if it was steady from the start.

    The split into two levels that explains most of the variance of the logarithms counts as the
    end of warm-up if the later level is lower by at least 5 % and the split explains 30 %.
    """
    values = np.log(np.maximum(np.asarray(latencies_ms, np.float64), 1e-6))
    count = len(values)
    total = float(((values - values.mean()) ** 2).sum()) if count else 0.0
    if count < 2 * _MIN_SEGMENT or total == 0:
        return 0
    best, best_cost = 0, total
    for split in range(1, count - _MIN_SEGMENT + 1):
        before, after = values[:split], values[split:]
        cost = float(((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum())
        if before.mean() - after.mean() > _MIN_DROP and cost < best_cost:
            best, best_cost = split, cost
    return best if best_cost <= (1 - _MIN_GAIN) * total else 0


def contrast(baseline: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> Contrast:
    """Compare two variants that ran in the same rounds.

    A round's speedup is the quotient of its medians; the estimate is the geometric mean over the
    rounds and the interval its bootstrap, seeded, so that the same latencies give the same text.
    Pairing takes out whatever slowed the machine down for both.
    """
    pairs = [(a, b) for a, b in zip(baseline, other, strict=False) if len(a) and len(b)]
    if not pairs:
        return Contrast(1.0, 0.0, float("inf"), 0, "no_clear_difference")
    logs = np.array([np.log(np.median(a) / np.median(b)) for a, b in pairs])
    low, high = (float(np.exp(end)) for end in _interval(logs))
    speedup = float(np.exp(logs.mean()))
    return Contrast(speedup, low, high, len(logs), _verdict(low, high, rounds=len(logs)))


def _interval(logs: NDArray[np.float64]) -> tuple[float, float]:
    generator = np.random.default_rng(0)
    picks = generator.integers(0, len(logs), (RESAMPLES, len(logs)))
    means = logs[picks].mean(axis=1)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)


def _verdict(low: float, high: float, *, rounds: int) -> Verdict:
    if rounds < MIN_ROUNDS:
        return "no_clear_difference"
    if low > 1 and high > 1 + SMALLEST_EFFECT:
        return "faster"
    if high < 1 and low < 1 - SMALLEST_EFFECT:
        return "slower"
    return "no_clear_difference"
