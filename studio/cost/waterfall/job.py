"""The measured waterfall of an open run, as an experiment that can be kept and shown again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from math import exp, inf
from typing import Any

from profiling.config import RunConfig
from profiling.config.question import with_question
from profiling.config.settings import from_values
from profiling.racing.race import RACE
from profiling.records.recording import Recording
from profiling.workers import WorkerPool
from profiling.worth.bars import MeasuredBar, measured_bars
from profiling.worth.levels import Change, Heat
from profiling.worth.measured import Measured, MeasuringBudget, measured_waterfall
from profiling.worth.waterfall import pass_boundaries
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cost.rows import changed_options, rows
from studio.cost.trace_costs import PassName, TraceCosts, trace_costs
from studio.numbers import times_text

LARGE_BYTES = 200_000_000
"""Of weights: fewer of such models race side by side."""

Keep = Callable[[Recording], object]


@dataclass(frozen=True, slots=True)
class WaterfallRequest:
    """What to measure.

    Attributes:
        config: how every cut point is run.
        seconds: of steady running in all races together.
    """

    config: RunConfig
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class WaterfallReport:
    """What came out.

    Attributes:
        measured: races and what follows from them.
        steps: pass and rule of every step, step 1 first.
        names: of the passes, by id.
        model: display name.
        model_hash: of the source file.
    """

    request: WaterfallRequest
    measured: Measured
    steps: tuple[tuple[str, str], ...]
    names: Mapping[str, PassName]
    model: str
    model_hash: str

    @property
    def pass_ids(self) -> tuple[str, ...]:
        """The pass of every step."""
        return tuple(pass_id for pass_id, _ in self.steps)

    @property
    def finding(self) -> str:
        """One line: "Bare · Fuse BatchNorm into Conv bought 61 % of 1.31×"."""
        return with_question(self.request.config, self._found)

    @property
    def _found(self) -> str:
        total = self.measured.total
        if not total.clear:
            return f"All steps together: no clear difference ({_interval(total)})"
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

    def recording(self) -> Recording:
        """The experiment for the records."""
        heats = self.measured.heats
        race = heats[0].race
        return Recording(
            kind="worth",
            title=self.finding,
            model=self.model,
            model_hash=self.model_hash,
            machine=race.machine,
            started_at=race.started_at,
            seconds=sum(heat.race.seconds for heat in heats),
            measurements=tuple(row for heat in heats for row in rows(heat.race, heat.steps)),
            payload=self._payload(),
        )

    def _payload(self) -> dict[str, Any]:
        runs = [[*key, sum(1 for _ in group)] for key, group in groupby(self.steps)]
        return {
            "section": "waterfall",
            "model": self.model,
            "model_hash": self.model_hash,
            "options": changed_options(self.request.config),
            "seconds": self.request.seconds,
            "steps": runs,
            "names": {key: asdict(self.names[key]) for key in dict.fromkeys(self.pass_ids)},
            "boundaries": list(self.measured.boundaries),
            "ended": self.measured.ended,
            "heats": [
                {"steps": list(heat.steps), "race": RACE.to_json(heat.race)}
                for heat in self.measured.heats
            ],
        }


def waterfall_key(
    model: OpenedModel, run: OpenedRun, request: WaterfallRequest
) -> tuple[object, ...]:
    """Equal waterfalls have equal keys."""
    options = tuple(sorted(request.config.changed().items()))
    return ("worth-waterfall", model.key, run.key, options, request.seconds)


def run_waterfall(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: WaterfallRequest,
    *,
    keep: Keep,
    progress: Callable[[str, float], None],
    cancelled: Callable[[], bool],
    partial: Callable[[WaterfallReport], object] | None = None,
) -> WaterfallReport:
    """Measure what the steps of a run bought.

    Raises:
        StudioError: the run is gone, a step cannot be written, or one of the ends does not run.
    """
    model, run = subject
    costs = trace_costs(store, model, run)
    mark = model.summary["digest"]

    def report(measured: Measured) -> WaterfallReport:
        return _report(request, measured, costs, model, mark)

    large = model.summary["weight_bytes"] > LARGE_BYTES
    measured = measured_waterfall(
        pass_boundaries(costs.steps),
        lambda step: store.materialize(model, run, step),
        pool=pool,
        config=request.config,
        budget=MeasuringBudget(seconds=request.seconds, side_by_side=5 if large else 8),
        progress=progress,
        cancelled=cancelled,
        observe=None if partial is None else lambda found: partial(report(found)),
    )
    found = report(measured)
    keep(found.recording())
    return found


def _report(
    request: WaterfallRequest, measured: Measured, costs: TraceCosts, model: OpenedModel, mark: str
) -> WaterfallReport:
    steps = tuple((step.pass_id, step.rule) for step in costs.steps)
    return WaterfallReport(request, measured, steps, costs.names, model.summary["name"], mark)


def waterfall_from_payload(payload: Mapping[str, Any]) -> WaterfallReport:
    """The report again."""
    heats = [Heat(tuple(h["steps"]), RACE.from_json(h["race"])) for h in payload["heats"]]
    config = from_values(payload["options"])
    return WaterfallReport(
        WaterfallRequest(config, payload["seconds"]),
        Measured(tuple(heats), tuple(payload["boundaries"]), payload["ended"]),
        tuple((p, rule) for p, rule, count in payload["steps"] for _ in range(count)),
        {key: PassName(**name) for key, name in payload["names"].items()},
        payload["model"],
        payload["model_hash"],
    )


def _interval(change: Change) -> str:
    if change.high == inf:
        return "too few rounds for an interval"
    return f"95 % interval {exp(change.low):.2f}–{exp(change.high):.2f}"
