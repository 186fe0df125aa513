"""When optimizing an open run has paid: a race of the source against the last step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from profiling.config.question import with_question
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.records import Measurement
from profiling.worth.break_even import BreakEven, break_even
from profiling.worth.measured import RUNS
from studio.cost.worth import WorthRequest, worth_experiment
from studio.experiment import Equipment, OfRaces, measurement


@dataclass(frozen=True, slots=True)
class BreakEvenRequest(WorthRequest):
    """What to measure; seconds spent on tuning, as stated by a person, are no part of the race."""

    tune_s: float = 0.0


@dataclass(frozen=True, slots=True)
class BreakEvenReport(OfRaces):
    """What came out.

    Attributes:
        race: the source and the last step.
        last: the last step.
        optimize_s: CPU time of optimizing.
    """

    request: BreakEvenRequest
    race: Race
    last: int
    optimize_s: float

    def all_races(self) -> tuple[Race, ...]:
        """The one race."""
        return (self.race,)

    @property
    def result(self) -> BreakEven | None:
        """When it has paid; None where the race has no times that count."""
        return break_even(self.race, optimize_s=self.optimize_s, tune_s=self.request.tune_s)

    @property
    def title(self) -> str:
        """The result in one line: "Deployed · Optimizing pays after 300 inferences"."""
        result = self.result
        if result is None:
            broken = next((t for t in self.race.timings if not t.believable), self.race.timings[-1])
            return f"No break-even: {broken.label} has no times that count"
        return with_question(self.request.config, str(result))

    def with_tuning(self, tune_s: float) -> BreakEvenReport:
        """The same race, with another time for tuning."""
        return replace(self, request=replace(self.request, tune_s=tune_s))

    def measurements(self) -> list[Measurement]:
        """A row for the source, one for the last step."""
        return [
            measurement(self.race, timing, step=step)
            for timing, step in zip(self.race.timings, (0, self.last), strict=True)
        ]


def run_break_even(bench: Equipment, request: BreakEvenRequest) -> BreakEvenReport:
    """Race the source against the last step.

    Raises:
        StudioError: a step cannot be written, or the source does not run.
    """
    last = bench.run.result.steps
    ends = {"source": 0, f"step {last} (optimized)": last}
    race = measure(
        [
            Variant(label, bench.store.materialize(*bench.subject, step), request.config)
            for label, step in ends.items()
        ],
        pool=bench.pool,
        plan=RacePlan(runs=RUNS, seconds=request.seconds),
        **bench.following,
    )
    return BreakEvenReport(*bench.source, request, race, last, bench.run.result.seconds)


BREAK_EVEN_EXPERIMENT = worth_experiment("break-even", run_break_even, BreakEvenReport)
