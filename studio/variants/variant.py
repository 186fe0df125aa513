"""A variant as people choose it: a step of a trace, and how it is run; and all that are chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.racing.race import Variant
from studio.artifacts.opened import OpenedModel, OpenedRun, Subject
from studio.artifacts.plans import kept_plan
from studio.artifacts.store import Store
from studio.opening import as_written_here
from studio.variants.contradictions import ContradictoryQuestion
from studio.variants.link import plan_of
from studio.variants.problem import show_problem

LAST = -1
"""The last step, of a trace that may not be known yet."""


@dataclass(frozen=True, slots=True)
class TraceVariant:
    """One participant of an experiment; labels are unique in it.

    Attributes:
        label: shown.
        step: of the trace; 0 is the source, `LAST` the last step.
        config: how it is run.
        preset: whose trace: a preset's, or a kept plan's by @key; empty for the one that is open.
    """

    label: str
    step: int
    config: RunConfig
    preset: str = ""


def run_of(variant: TraceVariant, store: Store, subject: Subject) -> OpenedRun:
    """The run whose trace the variant is a step of.

    Raises:
        StudioError: the preset is unknown or the plan gone, or its passes fail on this model.
    """
    model, run = subject
    if not variant.preset:
        return run
    plan = plan_of(variant.preset)
    if plan:
        return store.run(model, kept_plan(plan).pipeline)
    return store.run(model, as_written_here(Pipeline.of(variant.preset)))


def step_of(variant: TraceVariant, run: OpenedRun) -> int:
    """The variant's step as a number, in the run that `run_of` gives."""
    return int(run.result.steps) if variant.step == LAST else variant.step


def materialized(variants: Sequence[TraceVariant], store: Store, subject: Subject) -> list[Variant]:
    """The variants with their files written.

    Raises:
        StudioError: a preset's passes fail, or a step cannot be written.
    """
    files: list[Variant] = []
    for variant in variants:
        run = run_of(variant, store, subject)
        path = store.materialize(subject[0], run, step_of(variant, run))
        files.append(Variant(variant.label, path, variant.config))
    return files


@dataclass(frozen=True, slots=True)
class Chosen:
    """Variants, and what is asked of them.

    Attributes:
        asked: the variants for each question, deployed first; in each the baseline first.
        left_out: why a question is not asked although it was wanted; else empty.
    """

    asked: tuple[tuple[TraceVariant, ...], ...]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What was chosen in the sidebar.

    Attributes:
        chosen: the variants.
        seconds: of steady running for all of them together.
        problem: why what is chosen now cannot be run; the variants are those of before.
    """

    model: OpenedModel
    run: OpenedRun
    chosen: Chosen
    seconds: float
    problem: ContradictoryQuestion | None = None

    @property
    def subject(self) -> Subject:
        """What is measured: the open model and its run."""
        return self.model, self.run

    @property
    def variants(self) -> tuple[TraceVariant, ...]:
        """Variants of a section that asks one question: bare where that is asked."""
        return self.chosen.asked[-1]

    @property
    def blocked(self) -> Callable[[], None] | None:
        """Draws why nothing can be started; None where it can."""
        return None if self.problem is None else partial(show_problem, self.problem)
