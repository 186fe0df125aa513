"""Plans built as files, run on samples held out, and raced against the model as it came."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from optimizer.errors import Cancelled, RunError
from optimizer.isolation import Following
from optimizer.limits import JobLimits
from optimizer.verify.jobs import Request
from profiling.config import RunConfig
from profiling.precision.building import Prepared, build
from profiling.precision.calibrating import Tables
from profiling.precision.evaluation import PlanEvaluation
from profiling.precision.metric import Metric
from profiling.precision.plans import PrecisionPlan
from profiling.precision.running import ANY, Held, run_held
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Variant
from profiling.racing.samples import Contrast
from profiling.workers import WorkerPool

SOURCE = "as it came"

_LIMITS = JobLimits(seconds=900.0)
_MOST_FILES = 8
"""Plans' files that are kept; others are built anew where they are needed again."""

_ROUNDS, _RUNS = 15, 15
_LEAST_S = 2.0
"""A race takes as long for each model, or as long as its rounds take."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What plans are made for, and what they are held against.

    Attributes:
        source: the model as it came.
        prepared: it, after the passes that every plan begins with.
        tables: what was observed of it.
        held: samples, with what the source gives for them.
        metric: the user's own, if there is one.
        config: how models are run.
        run_s: of the source, as it was run on samples.
    """

    source: Path
    prepared: Prepared
    tables: Tables
    held: Held
    metric: Metric | None
    config: RunConfig
    run_s: float = 0.0


class ModelEvaluator:
    """Builds, runs and races plans of one model.

    Args:
        subject: the model.
        folder: for files of plans.
        pool: where everything runs.
        following: asked whether to stop.
    """

    def __init__(
        self, subject: Subject, folder: Path, pool: WorkerPool, **following: Unpack[Following]
    ) -> None:
        self._subject, self._folder, self._pool = subject, folder, pool
        self._cancelled = following.get("cancelled")
        self._files: OrderedDict[PrecisionPlan, Path] = OrderedDict()

    def assess(self, plan: PrecisionPlan) -> PlanEvaluation:
        """See `Evaluator.assess`."""
        subject = self._subject
        try:
            size_bytes = self._build(plan)
            if isinstance(size_bytes, str):
                return PlanEvaluation(plan, failure=size_bytes)
            found = self._pool(
                run_held, self._files[plan], subject.config, subject.held, subject.metric,
                limits=_LIMITS, cancelled=self._cancelled,
            )  # fmt: skip
        except Cancelled:
            raise
        except RunError as error:
            return PlanEvaluation(plan, failure=error.message)
        return PlanEvaluation(plan, size_bytes, found.outputs, found.metric, failure=found.failure)

    def race(self, plans: Sequence[PrecisionPlan]) -> list[Contrast | None]:
        """See `Evaluator.race`."""
        subject = self._subject
        labels = {plan: f"plan {number + 1}" for number, plan in enumerate(plans)}
        ready = [
            plan for plan in plans if plan in self._files or isinstance(self._build(plan), int)
        ]
        variants = [
            Variant(SOURCE, subject.source, subject.config),
            *(Variant(labels[plan], self._files[plan], subject.config) for plan in ready),
        ]
        race = measure(
            variants,
            pool=self._pool,
            plan=RacePlan(
                runs=_RUNS,
                rounds=_ROUNDS,
                seconds=len(variants) * max(_LEAST_S, _ROUNDS * subject.run_s),
                tolerance=ANY,
                request=Request(seeds=1, bindings=subject.held.sizes),
            ),
            cancelled=self._cancelled,
        )
        alive = {timing.label for timing in race.timings if not timing.error}
        return [
            race.contrast(labels[plan], baseline=SOURCE) if labels[plan] in alive else None
            for plan in plans
        ]

    def _build(self, plan: PrecisionPlan) -> int | str:
        """Size of the plan's file; why there is none."""
        subject = self._subject
        target = self._folder / f"{plan.digest}.onnx"
        built = self._pool(
            build, subject.prepared, plan, subject.tables, target,
            limits=_LIMITS, cancelled=self._cancelled,
        )  # fmt: skip
        if built.failure:
            return built.failure
        self._files[plan] = target
        while len(self._files) > _MOST_FILES:
            _, oldest = self._files.popitem(last=False)
            for file in (oldest, oldest.with_name(f"{oldest.name}.data")):
                file.unlink(missing_ok=True)
        return built.size_bytes
