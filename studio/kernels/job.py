"""Kernels of a variant: races of its hot operators, and what won in the whole model."""

from __future__ import annotations

import datetime
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from optimizer.errors import RunError
from optimizer.findings import Status
from profiling.config import Group
from profiling.config.settings import from_values
from profiling.kernels.decision import choose
from profiling.kernels.hot import TOP, HotOperators
from profiling.kernels.selection import SELECTION, Selection, select
from profiling.kernels.tuning import TuningResults, export_tuning
from profiling.kernels.whole import CONFIRMATION, Confirmation, confirm
from profiling.machine import Machine, this_machine
from profiling.racing.race import Variant
from profiling.records import Recording
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.kernels.rows import measurements
from studio.numbers import counted
from studio.variants.entrant import Entrant, entrant_key, run_of, variants_of

Report = Callable[[str, float], None]
Asked = Callable[[], bool]
Keep = Callable[[Recording], object]
_NOTHING = HotOperators("runtime profile", 0.0, ())

Subject = tuple[OpenedModel, OpenedRun]


@dataclass(frozen=True, slots=True)
class KernelsRequest:
    """What to race.

    Attributes:
        entrant: the variant; its options are the baseline everywhere.
        seconds: of steady running, for all races together.
        top: how many hot operators.
        lossy: whether fewer bits may be chosen for the whole model.
    """

    entrant: Entrant
    seconds: float = 20.0
    top: int = TOP
    lossy: bool = False


@dataclass(frozen=True, slots=True)
class KernelsReport:
    """What came out.

    Attributes:
        variant: its label.
        model: display name.
        model_hash: of the source.
        lossy: whether fewer bits may be chosen.
        selection: hot operators and their races.
        tuning: what the runtime tuned by itself; None where it was not asked.
        confirmation: the whole model before and after; None before it was raced.
        machine: it ran on.
        started_at: UTC, ISO 8601.
        seconds: duration.
        step: of the trace.
    """

    variant: str
    model: str
    model_hash: str
    lossy: bool
    selection: Selection
    tuning: TuningResults | None
    confirmation: Confirmation | None
    machine: Machine
    started_at: str
    seconds: float
    step: int

    @property
    def title(self) -> str:
        """The finding, one line."""
        if self.confirmation is not None:
            return f"Whole model: {self.confirmation.finding}"
        return finding(self.selection)

    def recording(self) -> Recording:
        """For the database."""
        return Recording(
            "kernels",
            self.title,
            self.model,
            self.model_hash,
            self.machine,
            self.started_at,
            self.seconds,
            tuple(measurements(self.selection, self.confirmation)),
            {
                "variant": self.variant,
                "model": self.model,
                "model_hash": self.model_hash,
                "lossy": self.lossy,
                "selection": SELECTION.to_json(self.selection),
                "tuning": None if self.tuning is None else asdict(self.tuning),
                "confirmation": None
                if self.confirmation is None
                else CONFIRMATION.to_json(self.confirmation),
                "machine": asdict(self.machine),
                "started_at": self.started_at,
                "seconds": self.seconds,
                "step": self.step,
            },
        )


def kernels_from_payload(payload: Mapping[str, Any]) -> KernelsReport:
    """The report again.

    Raises:
        StudioError: the payload is damaged.
    """
    confirmed = payload["confirmation"]
    return KernelsReport(
        payload["variant"],
        payload["model"],
        payload["model_hash"],
        payload["lossy"],
        SELECTION.from_json(payload["selection"]),
        None if payload["tuning"] is None else TuningResults(**payload["tuning"]),
        None if confirmed is None else CONFIRMATION.from_json(confirmed),
        Machine(**payload["machine"]),
        payload["started_at"],
        payload["seconds"],
        payload["step"],
    )


def run_kernels(
    store: Store,
    pool: WorkerPool,
    subject: Subject,
    request: KernelsRequest,
    *,
    groups: Mapping[Group, Status],
    keep: Keep,
    progress: Report,
    cancelled: Asked,
    partial: Callable[[object], None] | None = None,
) -> KernelsReport:
    """Find the hot operators of the variant and race the candidates of each.

    Raises:
        StudioError: the variant cannot be written or read.
    """
    started, began = datetime.datetime.now(datetime.UTC), time.monotonic()
    machine = this_machine()
    progress("writing the model", 0.0)
    variant = variants_of([request.entrant], store, subject)[0]
    made = KernelsReport(
        request.entrant.label,
        subject[0].summary["name"],
        subject[0].summary["digest"],
        request.lossy,
        Selection(variant.config, _NOTHING, ()),
        None,
        None,
        machine,
        started.isoformat(timespec="seconds"),
        0.0,
        request.entrant.step,
    )
    selection = select(
        variant, pool=pool, groups=groups, seconds=request.seconds, top=request.top,
        progress=lambda text, fraction: progress(text, 0.95 * fraction), cancelled=cancelled,
        observe=None if partial is None else lambda found: partial(replace(made, selection=found)),
    )  # fmt: skip
    progress("asking for tuning results", 0.97)
    report = replace(
        made,
        selection=selection,
        tuning=_tuned(variant, pool, cancelled),
        seconds=time.monotonic() - began,
    )
    keep(report.recording())
    return report


def apply_kernels(
    store: Store,
    pool: WorkerPool,
    subject: Subject,
    request: KernelsRequest,
    report: KernelsReport,
    *,
    keep: Keep,
    progress: Report,
    cancelled: Asked,
) -> KernelsReport:
    """Race the whole model as it is against itself with what won.

    Raises:
        StudioError: nothing won, or the model cannot be written or run.
    """
    began = time.monotonic()
    progress("writing the model", 0.0)
    variant = variants_of([request.entrant], store, subject)[0]
    run = run_of(request.entrant, store, subject)
    mark = hashlib.sha256(repr(kernels_key(*subject, request)).encode()).hexdigest()[:16]
    choice = choose(report.selection, lossy=request.lossy)
    tuning = report.tuning
    if choice.options and variant.config.device != "cpu":  # the CPU provider tunes nothing
        chosen = replace(variant, config=from_values(dict(choice.options), base=variant.config))
        tuning = _tuned(chosen, pool, cancelled)
    confirmation = confirm(
        variant,
        report.selection,
        choice,
        pool=pool,
        folder=run.folder / f"kernels-{mark}",
        seconds=request.seconds,
        tuning=tuning.text if tuning is not None else "",
        progress=progress,
        cancelled=cancelled,
    )
    found = replace(
        report,
        confirmation=confirmation,
        tuning=tuning,
        lossy=request.lossy,
        seconds=report.seconds + time.monotonic() - began,
    )
    keep(found.recording())
    return found


def kernels_key(model: OpenedModel, run: OpenedRun, request: KernelsRequest) -> tuple[object, ...]:
    """Equal requests have equal keys: a reload finds its races again."""
    # What may be chosen afterwards is no part of the races.
    return ("kernels", model.key, run.key, entrant_key(request.entrant), request.seconds,
            request.top)  # fmt: skip


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


def _tuned(variant: Variant, pool: WorkerPool, cancelled: Asked) -> TuningResults | None:
    isolate = pool if variant.config.device == "cpu" else pool.run_fresh
    try:
        return export_tuning(variant, isolate=isolate, cancelled=cancelled)
    except RunError as error:
        return TuningResults("[]", 0, f"No tuning results: {error.message}")
