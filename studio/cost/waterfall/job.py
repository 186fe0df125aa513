"""The measured waterfall of an open run, as an experiment that can be kept and shown again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.numbers import times_text
from profiling.config.question import with_question
from profiling.racing.race import Race
from profiling.records import Measurement
from profiling.worth.measured import Measured, MeasuringBudget, measured_waterfall
from profiling.worth.waterfall import MeasuredBar, measured_bars, pass_boundaries
from studio.cost.trace_costs import PassName, trace_costs
from studio.cost.worth import WorthRequest, is_large, worth_experiment
from studio.experiment import Equipment, OfRaces, measurement


@dataclass(frozen=True, slots=True)
class WaterfallReport(OfRaces):
    """What came out.

    Attributes:
        measured: races and what follows from them.
        steps: pass and rule of every step, step 1 first.
        names: of the passes, by id.
    """

    request: WorthRequest
    measured: Measured
    steps: tuple[tuple[str, str], ...]
    names: Mapping[str, PassName]

    def all_races(self) -> list[Race]:
        """The races, in order."""
        return [heat.race for heat in self.measured.heats]

    def measurements(self) -> list[Measurement]:
        """A row for each cut point of each race."""
        return [
            measurement(heat.race, timing, step=step)
            for heat in self.measured.heats
            for step, timing in zip(heat.steps, heat.race.timings, strict=True)
        ]

    @property
    def pass_ids(self) -> tuple[str, ...]:
        """The pass of every step."""
        return tuple(pass_id for pass_id, _ in self.steps)

    @property
    def title(self) -> str:
        """One line: "Bare · Fuse BatchNorm into Conv bought 61 % of 1.31×"."""
        return with_question(self.request.config, self._found)

    @property
    def _found(self) -> str:
        total = self.measured.total
        if not total.clear:
            return f"All steps together: no clear difference ({total.interval})"
        direction = "faster" if total.log > 0 else "slower"
        bars = measured_bars(self.measured, self.pass_ids)
        best = max(bars, key=lambda bar: bar.change.log * (1 if total.log > 0 else -1))
        factor = total.speedup if total.log > 0 else 1 / total.speedup
        if not best.change.clear:
            return f"{times_text(factor)} {direction}, spread over steps that do not differ clearly"
        share = 100 * best.change.log / total.log
        verb = "bought" if total.log > 0 else "cost"
        whole = times_text(factor) + ("" if total.log > 0 else " slower")
        return f"{self.title_of(best)} {verb} {share:.0f} % of {whole}"

    def title_of(self, bar: MeasuredBar) -> str:
        """A bar's passes as people know them."""
        first = self.names[bar.passes[0]].title
        more = len(bar.passes) - 1
        return f"{first} and {more} more" if more else first


def run_waterfall(bench: Equipment, request: WorthRequest) -> WaterfallReport:
    """Measure what the steps of a run bought.

    Raises:
        StudioError: the run is gone, a step cannot be written, or one of the ends does not run.
    """
    costs = trace_costs(bench.store, *bench.subject)
    steps = tuple((step.pass_id, step.rule) for step in costs.steps)

    def report(measured: Measured) -> WaterfallReport:
        return WaterfallReport(*bench.source, request, measured, steps, costs.names)

    measured = measured_waterfall(
        pass_boundaries(costs.steps),
        lambda step: bench.store.materialize(*bench.subject, step),
        pool=bench.pool,
        config=request.config,
        budget=MeasuringBudget(seconds=request.seconds, side_by_side=5 if is_large(bench) else 8),
        **bench.following,
        observe=lambda found: bench.partial(report(found)),
    )
    return report(measured)


WATERFALL_EXPERIMENT = worth_experiment("waterfall", run_waterfall, WaterfallReport)
