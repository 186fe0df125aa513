"""What a pass is worth beside the others: the pipeline without it, and the pass alone.

A waterfall gives a pass what it did at its turn. Here is what would be missing without it, after
all others have done what they still can, and what it does by itself. Where the two differ, passes
depend on each other or do each other's work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from profiling.worth.waterfall import Metric


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """One run of a pipeline over the model.

    Attributes:
        totals: of the source and of the optimized graph, by metric.
        fired: rewrites by pass, passes that did nothing left out.
        steps: rewrites together.
        seconds: CPU time of optimizing.
    """

    totals: Mapping[Metric, Sequence[int]]
    fired: Mapping[str, int]
    steps: int
    seconds: float

    def saved(self, metric: Metric) -> int:
        """What was saved, negative if it grew."""
        before, after = self.totals[metric]
        return before - after


@dataclass(frozen=True, slots=True)
class PassWorth:
    """One pass.

    Attributes:
        pass_id: which.
        fired: rewrites in the full pipeline.
        missing: saved by the full pipeline, and not without the pass.
        alone: saved by the pass alone; None where that was not run.
        others: rewrites that other passes make more or less without it, by pass.
    """

    pass_id: str
    fired: int
    missing: int
    alone: int | None
    others: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ablation:
    """All runs.

    Attributes:
        full: with all passes.
        without: by the pass that was left out.
        alone: by the pass that ran by itself.
    """

    full: PipelineRun
    without: Mapping[str, PipelineRun]
    alone: Mapping[str, PipelineRun]

    def worth(self, metric: Metric) -> tuple[PassWorth, ...]:
        """Every pass that was left out, the most missed first."""
        found = [self._pass(pass_id, metric) for pass_id in self.without]
        return tuple(sorted(found, key=lambda worth: -worth.missing))

    def _pass(self, pass_id: str, metric: Metric) -> PassWorth:
        without, alone = self.without[pass_id], self.alone.get(pass_id)
        return PassWorth(
            pass_id,
            self.full.fired.get(pass_id, 0),
            self.full.saved(metric) - without.saved(metric),
            None if alone is None else alone.saved(metric),
            self._others(pass_id, without.fired),
        )

    def _others(self, pass_id: str, fired: Mapping[str, int]) -> dict[str, int]:
        names = [name for name in {**self.full.fired, **fired} if name != pass_id]
        changes = {name: fired.get(name, 0) - self.full.fired.get(name, 0) for name in names}
        return {name: change for name, change in changes.items() if change}
