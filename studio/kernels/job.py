"""Kernels of a variant: races of its hot operators, and what won in the whole model."""

from __future__ import annotations

import datetime
import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from optimizer.errors import RunError
from optimizer.numbers import counted
from profiling.config.settings import from_values
from profiling.execution.availability import availability
from profiling.kernels.confirmation import Confirmation, confirm
from profiling.kernels.decision import choose
from profiling.kernels.hotspots import TOP, Hotspots
from profiling.kernels.selection import Selection, WorkloadRace, select
from profiling.kernels.tuning import TuningResults, export_tuning
from profiling.machine import this_machine
from profiling.racing.race import Variant
from profiling.records import Measurement
from studio.experiment import Equipment, Experiment, TimedReport, measurement, report_format
from studio.variants.variant import TraceVariant, materialized, run_of

_NOTHING = Hotspots("runtime profile", 0.0, ())


@dataclass(frozen=True, slots=True)
class KernelsRequest:
    """What to race.

    Attributes:
        variant: the variant; its options are the baseline everywhere.
        seconds: of steady running, for all races together.
        top: how many hot operators.
        lossy: whether fewer bits may be chosen for the whole model.
    """

    variant: TraceVariant
    seconds: float = 20.0
    top: int = TOP
    lossy: bool = False


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """What to try on the whole model: what won among the kernels that were raced."""

    kernels: KernelsRequest
    found: KernelsReport


@dataclass(frozen=True, slots=True)
class KernelsReport(TimedReport):
    """What came out.

    Attributes:
        variant: its label.
        lossy: whether fewer bits may be chosen.
        selection: hot operators and their races.
        tuning: what the runtime tuned by itself; None where it was not asked.
        confirmation: the whole model before and after; None before it was raced.
        step: of the trace.
    """

    variant: str
    lossy: bool
    selection: Selection
    tuning: TuningResults | None
    confirmation: Confirmation | None
    step: int

    @property
    def title(self) -> str:
        """The finding, one line."""
        if self.confirmation is not None:
            return f"Whole model: {self.confirmation.finding}"
        return finding(self.selection)

    def measurements(self) -> list[Measurement]:
        """The whole model first where it was raced, then every candidate of every operator."""
        found: list[Measurement] = []
        if self.confirmation is not None:
            race = self.confirmation.race
            found += [
                measurement(race, timing, label=f"whole model, {timing.label}")
                for timing in race.timings
            ]
        return [*found, *(row for raced in self.selection.races for row in _rows(raced))]


def _rows(raced: WorkloadRace) -> Iterator[Measurement]:
    title, key = raced.operator.workload.title, raced.operator.workload.key
    timings = {} if raced.race is None else {t.label: t for t in raced.race.timings}
    for candidate in raced.candidates:
        timing, row = timings.get(candidate.label), raced.row(candidate.label)
        label = f"{title}: {candidate.label}"
        if timing is not None and raced.race is not None:
            measured = measurement(raced.race, timing, label=label, workload=key)
            yield replace(measured, verdict=row.verdict, error=timing.error or row.wrong)
        elif candidate.unavailable and candidate.target == "cpu":
            yield Measurement(label, key, options=dict(candidate.changes), error=row.verdict)


def run_kernels(bench: Equipment, request: KernelsRequest) -> KernelsReport:
    """Find the hot operators of the variant and race the candidates of each.

    Raises:
        StudioError: the variant cannot be written or read.
    """
    started, began = datetime.datetime.now(datetime.UTC), time.monotonic()
    machine = this_machine()
    bench.progress("writing the model", 0.0)
    variant = materialized([request.variant], bench.store, bench.subject)[0]
    made = KernelsReport(
        *bench.source,
        machine,
        started.isoformat(timespec="seconds"),
        0.0,
        request.variant.label,
        request.lossy,
        Selection(variant.config, _NOTHING, ()),
        None,
        None,
        request.variant.step,
    )
    selection = select(
        variant,
        pool=bench.pool,
        groups=availability(bench.pool),
        seconds=request.seconds,
        top=request.top,
        progress=lambda text, fraction: bench.progress(text, 0.95 * fraction),
        cancelled=bench.cancelled,
        observe=lambda found: bench.partial(replace(made, selection=found)),
    )
    bench.progress("asking for tuning results", 0.97)
    tuning = _tuned(variant, bench)
    return replace(made, selection=selection, tuning=tuning, seconds=time.monotonic() - began)


def apply_kernels(bench: Equipment, request: ApplyRequest) -> KernelsReport:
    """Race the whole model as it is against itself with what won.

    Raises:
        StudioError: nothing won, or the model cannot be written or run.
    """
    asked, report = request.kernels, request.found
    began = time.monotonic()
    bench.progress("writing the model", 0.0)
    variant = materialized([asked.variant], bench.store, bench.subject)[0]
    run = run_of(asked.variant, bench.store, bench.subject)
    mark = hashlib.sha256(repr(_raced(asked)).encode()).hexdigest()[:16]
    choice = choose(report.selection, lossy=asked.lossy)
    tuning = report.tuning
    if choice.options and variant.config.device != "cpu":  # the CPU provider tunes nothing
        chosen = replace(variant, config=from_values(dict(choice.options), base=variant.config))
        tuning = _tuned(chosen, bench)
    confirmation = confirm(
        variant,
        report.selection,
        choice,
        pool=bench.pool,
        folder=run.folder / f"kernels-{mark}",
        seconds=asked.seconds,
        tuning=tuning.text if tuning is not None else "",
        **bench.following,
    )
    return replace(
        report,
        confirmation=confirmation,
        tuning=tuning,
        lossy=asked.lossy,
        seconds=report.seconds + time.monotonic() - began,
    )


def _raced(request: KernelsRequest) -> tuple[object, ...]:
    """What races depend on: what may be chosen afterwards is no part of them."""
    return (request.variant, request.seconds, request.top)


_FORM = report_format(KernelsReport, "kernels")
KERNELS_EXPERIMENT = Experiment("kernels", "kernels", run_kernels, _FORM, relevant=_raced)
APPLY_EXPERIMENT = Experiment(
    "kernels applied",
    "kernels",
    apply_kernels,
    _FORM,
    relevant=lambda request: (request.kernels.lossy, _raced(request.kernels)),
)


def finding(selection: Selection) -> str:
    """How many hot operators have something better than what they run with."""
    races = [race for race in selection.races if race.race is not None]
    better = sum(race.winner().contrast is not None for race in races)
    share = sum(race.operator.share for race in races)
    if not races:
        return "No operator of this model could be raced"
    verb = "has" if better == 1 else "have"
    what = f"{better} {verb} a faster way" if better else "nothing is surely faster"
    return f"{counted(len(races), 'hot operator')}, {100 * share:.0f} % of the time: {what}"


def _tuned(variant: Variant, bench: Equipment) -> TuningResults | None:
    isolate = bench.pool if variant.config.device == "cpu" else bench.pool.run_fresh
    try:
        return export_tuning(variant, isolate=isolate, cancelled=bench.cancelled)
    except RunError as error:
        return TuningResults("[]", 0, f"No tuning results: {error.message}")
