"""The precision of a model, from its file to an answer: prepare, hold out, calibrate, search."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

from optimizer.errors import StudioError, quoted
from optimizer.isolation import Following, part_of
from optimizer.limits import JobLimits
from optimizer.numbers import three_digits
from optimizer.precision.samples import Samples, files_of
from profiling.config import RunConfig
from profiling.config.question import config_for
from profiling.machine import Machine, this_machine
from profiling.precision.building import Prepared, offered, prepare, size_of
from profiling.precision.calibrating import calibrate
from profiling.precision.chosen import ChosenPlan
from profiling.precision.evaluation import PlanEvaluation, Requirement
from profiling.precision.evaluator import ModelEvaluator, Subject
from profiling.precision.plans import Choice, Goal, PrecisionPlan, Variant
from profiling.precision.running import Held, hold_out, run_held
from profiling.precision.search import SearchResult, search
from profiling.precision.trials import Allowance, Question
from profiling.workers import WorkerPool

_LIMITS = JobLimits(seconds=1800.0)
_PARTS = 4
"""Preparing, calibrating, and twice that for the search."""
_HELD_SHARE = 4
"""One in so many samples is held out."""
_MOST_HELD, _MOST_CALIBRATED = 16, 256
_GENERATED, _GENERATED_HELD = 8, 4
_FOR_SIZE: frozenset[Choice] = frozenset({"int8 weights", "int4 weights", "float16"})
"""On a CPU none of these is faster where there are more than a few rows."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is wanted of a model.

    Attributes:
        required: what may be lost.
        goal: what is to be gained.
        samples: the user's folder; None for generated inputs, whose errors rank plans only.
        bindings: sizes of free dimensions by name.
        allowance: what the search may take.
        config: how models are run.
    """

    required: Requirement
    goal: Goal = "speed"
    samples: Path | None = None
    bindings: Mapping[str, int] = field(default_factory=dict[str, int])
    allowance: Allowance = field(default_factory=Allowance)
    config: RunConfig = field(default_factory=lambda: config_for("deployed", {}))


@dataclass(frozen=True, slots=True)
class _Begun:
    """What is needed for a search.

    Attributes:
        asked: what is wanted.
        subject: what plans are made of and held to.
        question: what is searched.
        calibrated: how many samples ranges were observed on.
    """

    asked: SearchRequest
    subject: Subject
    question: Question
    calibrated: int
    machine: Machine = field(default_factory=this_machine)
    started: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.UTC))

    @property
    def nothing(self) -> SearchResult:
        """What is known before anything was tried: float."""
        return SearchResult((self.question.source,), (0,), 0, None, "")

    def chosen(self, found: SearchResult) -> ChosenPlan:
        """What was found, with what it rests on."""
        asked, subject, prepared = self.asked, self.subject, self.subject.prepared
        return ChosenPlan(
            subject.source.name, prepared.digest, asked.required, asked.goal,
            "" if asked.samples is None else asked.samples.absolute().name,
            prepared.regions, subject.tables, prepared.ids, prepared.integers, self.calibrated,
            subject.held.count, found, asked.config, self.machine,
            self.started.isoformat(timespec="seconds"),
        )  # fmt: skip


def choose(
    source: Path,
    asked: SearchRequest,
    *,
    pool: WorkerPool,
    before: ChosenPlan | None = None,
    observer: Callable[[ChosenPlan], object] = lambda _: None,
    **following: Unpack[Following],
) -> ChosenPlan:
    """Find the cheapest plan of a model within what may be lost.

    Args:
        source: the model's file.
        asked: what is wanted.
        pool: where everything runs.
        before: what an earlier search found; what still holds of it is not done again.
        observer: gets what is known, whenever there is more.
        following: told what is done; being cancelled once the search has begun ends it, and what
            was found stays.

    Raises:
        StudioError: the model cannot be opened or run, there is nothing to quantize, or a sample
            or the metric is wrong.
        Cancelled: before the search had begun.
    """
    source = source.absolute()
    with tempfile.TemporaryDirectory(prefix="passlens-precision-") as name:
        begun = _begin(source, asked, Path(name), pool, following)
        evaluator = ModelEvaluator(begun.subject, Path(name), pool, **following)
        known = () if before is None else before.known_to(begun.chosen(begun.nothing))
        told = part_of(following, "", 1, of=_PARTS / 2)
        found = search(
            begun.question, evaluator, allowance=asked.allowance, known=known,
            observe=lambda now: observer(begun.chosen(now)), **told,
        )  # fmt: skip
        return begun.chosen(found)


def check(
    source: Path,
    model: Path,
    asked: SearchRequest,
    *,
    pool: WorkerPool,
    **following: Unpack[Following],
) -> PlanEvaluation:
    """A file that was written, run on the samples that are held out.

    Raises:
        StudioError: see `choose`.
    """
    with tempfile.TemporaryDirectory(prefix="passlens-precision-") as name:
        held = _held(source.absolute(), asked, Path(name), pool, following)
        found = pool(
            run_held, model.absolute(), asked.config, held, asked.required.metric,
            limits=_LIMITS, **following,
        )  # fmt: skip
    return PlanEvaluation(
        PrecisionPlan(()), size_of(model), found.outputs, found.metric, failure=found.failure
    )


def _begin(
    source: Path, asked: SearchRequest, folder: Path, pool: WorkerPool, following: Following
) -> _Begun:
    """Prepare, hold out, run, calibrate."""
    told = part_of(following, "", 0, of=_PARTS)
    prepared = pool(
        prepare, source, asked.bindings, folder / "prepared.onnx", limits=_LIMITS, **told
    )
    held = _held(source, asked, folder, pool, told)
    base, run_s = _base(source, asked, held, prepared, pool, told)
    told = part_of(following, "calibrating: ", 1, of=_PARTS)
    tables, calibrated = calibrate(prepared.file, prepared.regions, _split(asked)[0], pool, **told)
    subject = Subject(source, prepared, tables, held, asked.required.metric, asked.config, run_s)
    suited: tuple[Variant, ...] = tuple(variant for variant in tables if variant)
    question = Question(
        prepared.regions, _choices(asked.goal), tuple(tables[""].ranges), asked.required,
        asked.goal, base, ("corrected", *suited, "onnxruntime"),
    )  # fmt: skip
    return _Begun(asked, subject, question, calibrated)


def _held(
    source: Path, asked: SearchRequest, folder: Path, pool: WorkerPool, following: Following
) -> Held:
    """The samples held out, and what the model as it came gives for them."""
    kept = folder / "held"
    kept.mkdir()
    return pool(hold_out, source, _split(asked)[1], kept, limits=_LIMITS, **following)


def _choices(goal: Goal) -> frozenset[Choice]:
    return offered() if goal == "size" else offered() - _FOR_SIZE


def _split(asked: SearchRequest) -> tuple[Samples, Samples]:
    """What is calibrated on, and what is held out."""
    if asked.samples is None:
        first = Samples(count=_GENERATED, bindings=asked.bindings)
        return first, replace(first, count=_GENERATED_HELD, skip=_GENERATED)
    folder = asked.samples.absolute()
    count = len(files_of(Samples(folder, count=_MOST_HELD + _MOST_CALIBRATED)))
    held = min(_MOST_HELD, -(-count // _HELD_SHARE))
    if count == 1:
        return Samples(folder, count=1), Samples(folder, count=1)
    return Samples(folder, count=count - held), Samples(folder, count=held, skip=count - held)


def _base(
    source: Path,
    asked: SearchRequest,
    held: Held,
    prepared: Prepared,
    pool: WorkerPool,
    following: Following,
) -> tuple[PlanEvaluation, float]:
    """The model as it came, as a plan, and the seconds that it runs.

    Raises:
        StudioError: it does not itself give what the metric is to give.
    """
    metric = asked.required.metric
    found = pool(run_held, source, asked.config, held, metric, limits=_LIMITS, **following)
    if found.failure:
        raise StudioError(f"The model as it came does not run: {found.failure}")
    if metric is not None and found.metric is not None and metric.excess(found.metric) > 0:
        raise StudioError(
            f"The model as it came gives {metric.function} {three_digits(found.metric)}: no plan "
            f"can be held to {quoted(str(metric))}."
        )
    plan = PrecisionPlan(("float32",) * len(prepared.regions))
    return PlanEvaluation(plan, size_of(source), metric=found.metric), found.run_s
