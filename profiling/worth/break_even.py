"""After how many inferences optimizing has paid."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf

from profiling.racing.race import Race, Timing
from profiling.racing.samples import Contrast


@dataclass(frozen=True, slots=True)
class Upfront:
    """What one way costs before its steady state, in seconds.

    Attributes:
        optimize_s: CPU time of matching and rewriting.
        tune_s: of finding kernels or options.
        create_s: reading the model and creating the session.
        first_s: the first run.
    """

    optimize_s: float = 0.0
    tune_s: float = 0.0
    create_s: float = 0.0
    first_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.optimize_s + self.tune_s + self.create_s + self.first_s


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Two ways to the same results: as it is, or optimized.

    Attributes:
        before: once, for the source.
        after: once, for the optimized model.
        before_ms: of one inference of the source, median.
        contrast: how much faster the optimized model is.
    """

    before: Upfront
    after: Upfront
    before_ms: float
    contrast: Contrast

    @property
    def extra_s(self) -> float:
        """What the optimized model costs more at first; negative if it is ready sooner."""
        return self.after.total_s - self.before.total_s

    @property
    def after_ms(self) -> float:
        """Of one inference of the optimized model, from the source's and the paired speed-up."""
        return self.before_ms / self.contrast.speedup

    @property
    def pays(self) -> bool:
        """Whether anything is clearly saved by each inference."""
        return self.contrast.verdict == "faster"

    @property
    def inferences(self) -> float:
        """How many it takes; 0 if it has paid before the first, infinity for never."""
        return self._needed(self.contrast.speedup)

    @property
    def interval(self) -> tuple[float, float]:
        """The number at the upper and at the lower end of the speed-up's interval."""
        return self._needed(self.contrast.high), self._needed(self.contrast.low)

    def saved_s(self, inferences: float, speedup: float | None = None) -> float:
        """Seconds saved after so many; negative before it has paid.

        Args:
            inferences: done so far.
            speedup: another one than the measured, as an end of its interval.
        """
        factor = self.contrast.speedup if speedup is None else speedup
        return inferences * self.before_ms * (1 - 1 / max(factor, 1e-3)) / 1000 - self.extra_s

    def _needed(self, speedup: float) -> float:
        if not self.pays or speedup <= 1:
            return inf
        saved_s = self.before_ms * (1 - 1 / speedup) / 1000
        return max(0.0, self.extra_s / saved_s)

    def __str__(self) -> str:
        if self.contrast.verdict == "slower":
            return "Optimizing never pays: each inference takes longer"
        if not self.pays:
            return "Optimizing never pays, at the measured difference"
        if self.extra_s <= 0:
            return "Optimizing pays from the first inference on"
        low, high = self.interval
        first, last = _whole(low), _whole(high)
        return (
            f"Optimizing pays after {_whole(self.inferences):,} inferences, "
            f"95 % interval {first:,} to {last:,}"
        )


def _whole(inferences: float) -> int:
    """The first whole number that is enough, rounding errors aside."""
    return ceil(inferences - 1e-6)


def break_even(race: Race, *, optimize_s: float, tune_s: float = 0.0) -> BreakEven | None:
    """From a race of the source against the optimized model; None where either has no times.

    Args:
        race: the source first, the optimized model second.
        optimize_s: CPU seconds that optimizing took.
        tune_s: seconds spent on finding kernels or options for the optimized model.
    """
    source, optimized = race.timings
    contrast = race.contrast(optimized.label)
    if contrast is None or source.summary is None or not optimized.believable:
        return None
    create_s, first_s = _loaded(source)
    before = Upfront(create_s=create_s, first_s=first_s)
    create_s, first_s = _loaded(optimized)
    after = Upfront(optimize_s, tune_s, create_s, first_s)
    return BreakEven(before, after, source.summary.p50_ms, contrast)


def _loaded(timing: Timing) -> tuple[float, float]:
    assert timing.phases is not None
    return timing.phases.create_ms / 1000, timing.phases.first_ms / 1000
