"""Statistics of latencies: percentiles, the end of warm-up, and which of two is faster."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["faster", "slower", "no_clear_difference"]

CONFIDENCE = 0.95
"""Of the interval that is shown."""

SURE = 0.99
"""Of the interval that decides whether a difference is called clear."""

SMALLEST_EFFECT = 0.02
"""Share by which the whole interval must lie apart for a difference to be called clear.

Two processes of one and the same model differ by up to about this much, for as long as they live:
their memory lies elsewhere. More rounds do not average that out.
"""

MIN_ROUNDS = 6
"""Fewer paired rounds cannot give an interval of this confidence."""

MOST_ROUNDS = 400
"""More rounds than this are taken together in groups of neighbours."""

_MIN_SEGMENT = 3
_MIN_DROP = 0.05
_MIN_GAIN = 0.3


@dataclass(frozen=True, slots=True)
class LatencySummary:
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

    @property
    def half_width(self) -> float:
        """How far the interval reaches to either side, as a share of the speedup."""
        return (self.high - self.low) / (2 * self.speedup)

    @property
    def undecided(self) -> bool:
        """Whether the shown interval tells the variants apart, and the stricter one does not."""
        apart = self.low > 1 + SMALLEST_EFFECT or self.high < 1 / (1 + SMALLEST_EFFECT)
        return apart and self.verdict == "no_clear_difference"

    @property
    def claim(self) -> str:
        """What is sure, without numbers that are not: "1.31× faster" or "probably faster"."""
        if self.rounds < MIN_ROUNDS:
            return f"too few rounds to tell ({self.rounds} of {MIN_ROUNDS})"
        if self.undecided:
            return f"probably {self._direction}"
        if self.verdict == "no_clear_difference":
            return "no clear difference"
        factor = self.speedup if self.speedup > 1 else 1 / self.speedup
        return f"{factor:.2f}× {self._direction}"

    @property
    def brief(self) -> str:
        """Claim and interval, where a title says what these are: "1.31× faster (1.27–1.36)"."""
        low, high = self._ends
        return self.claim if self.rounds < MIN_ROUNDS else f"{self.claim} ({low:.2f}–{high:.2f})"

    @property
    def _ends(self) -> tuple[float, float]:
        """Of the interval, in the direction of the claim."""
        turned = self.verdict == "slower" or (self.undecided and self.speedup < 1)
        return (1 / self.high, 1 / self.low) if turned else (self.low, self.high)

    @property
    def _direction(self) -> str:
        return "faster" if self.speedup > 1 else "slower"

    def __str__(self) -> str:
        low, high = self._ends
        if self.rounds < MIN_ROUNDS:
            return self.claim
        if self.undecided:
            return f"{self.claim}, {low:.2f}× to {high:.2f}×; a longer race would make sure"
        if self.verdict == "no_clear_difference":
            return f"{self.claim} (95 % interval {low:.2f}–{high:.2f})"
        return f"{self.claim}, 95 % interval {low:.2f}–{high:.2f}"


def summarize(latencies_ms: Sequence[float]) -> LatencySummary | None:
    """Percentiles, or None for no latencies."""
    if not latencies_ms:
        return None
    values = np.asarray(latencies_ms, np.float64)
    low, high, *shown = map(float, np.percentile(values, [25, 75, 0, 50, 90, 95, 99]))
    return LatencySummary(len(values), *shown, mean_ms=float(values.mean()), spread_ms=high - low)


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

    A round's speedup is the quotient of what undisturbed runs took in it, so that whatever slowed
    the machine down for both cancels out. The estimate is the median of the means of all pairs of
    rounds (in logarithms), the interval the one that belongs to Wilcoxon's signed-rank test: a few
    rounds in which somebody else took the machine do not move them.

    Source: Hodges and Lehmann 1963, "Estimates of location based on rank tests".
    """
    pairs = [(a, b) for a, b in zip(baseline, other, strict=False) if len(a) and len(b)]
    if not pairs:
        return Contrast(1.0, 0.0, float("inf"), 0, "no_clear_difference")
    logs = np.array([np.log(undisturbed_ms(a) / undisturbed_ms(b)) for a, b in pairs])
    averages = _pair_averages(_grouped(logs))
    shown, sure = _interval(averages, CONFIDENCE), _interval(averages, SURE)
    middle = float(np.exp(np.median(averages)))
    return Contrast(middle, *shown, len(logs), _verdict(*sure, rounds=len(logs)))


def undisturbed_ms(block: Sequence[float]) -> float:
    """Latency of a block's runs that nobody got in the way of: the lower quartile.

    Other processes only ever make a run slower. On a crowded machine the median of a block follows
    them, and its lower quartile hardly does.
    """
    ordered = sorted(block)  # of a few runs, NumPy's percentile takes a hundred times as long
    place = (len(ordered) - 1) / 4
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (high - low) * (place % 1)


def _grouped(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    groups = np.array_split(logs, min(len(logs), MOST_ROUNDS))
    return np.array([group.mean() for group in groups])


def _pair_averages(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of all pairs of rounds, each with itself too, sorted."""
    left, right = np.triu_indices(len(logs))
    return np.sort((logs[left] + logs[right]) / 2)


def _interval(averages: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Ends of the interval; of all averages where there are too few rounds for the confidence."""
    rounds = round((np.sqrt(8 * len(averages) + 1) - 1) / 2)
    cut = _cut(rounds, confidence)
    return float(np.exp(averages[cut])), float(np.exp(averages[-1 - cut]))


@functools.cache
def _cut(rounds: int, confidence: float) -> int:
    """How many averages of pairs lie outside the interval on either side.

    From the exact distribution of the signed-rank sum: each rank counts with probability one half.
    """
    chances = np.zeros(rounds * (rounds + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, rounds + 1):
        with_rank = np.concatenate([np.zeros(rank), chances[:-rank]])
        chances = (chances + with_rank) / 2
    below = np.cumsum(chances)
    return max(0, int(np.searchsorted(below, (1 - confidence) / 2, side="right")) - 1)


def _verdict(low: float, high: float, *, rounds: int) -> Verdict:
    if rounds < MIN_ROUNDS:
        return "no_clear_difference"
    if low > 1 + SMALLEST_EFFECT:
        return "faster"
    return "slower" if high < 1 / (1 + SMALLEST_EFFECT) else "no_clear_difference"
