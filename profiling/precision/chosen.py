"""The answer of a search for a model, and all it rests on: what a page shows and a file keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.codec import Format, renamed
from optimizer.numbers import counted, three_digits
from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.config.question import question_of
from profiling.instructions import FastIntegers
from profiling.machine import Machine
from profiling.precision.building import Prepared, whole_pipeline
from profiling.precision.calibrating import Tables
from profiling.precision.evaluation import PlanEvaluation, Requirement
from profiling.precision.metric import Metric
from profiling.precision.pareto import front
from profiling.precision.plans import Goal, PrecisionPlan
from profiling.precision.regions import Region
from profiling.precision.search import SearchResult


@dataclass(frozen=True, slots=True)
class ChosenPlan:
    """What was found for a model.

    Attributes:
        model: name of its file.
        digest: sha256 of that file.
        required: what plans were held to.
        goal: what was to be gained.
        samples: name of the user's folder; empty where inputs were generated.
        regions: that plans speak of.
        tables: what was observed, that plans were built with.
        ids: of nodes by name, in a trace from the source.
        integers: that static int8 used.
        calibrated: samples that ranges were observed on.
        held: samples that errors were measured on.
        found: everything tried.
        config: how models were run.
        started_at: UTC, ISO 8601.
    """

    model: str
    digest: str
    required: Requirement
    goal: Goal
    samples: str
    regions: tuple[Region, ...]
    tables: Tables
    ids: Mapping[str, str]
    integers: FastIntegers
    calibrated: int
    held: int
    found: SearchResult
    config: RunConfig
    machine: Machine
    started_at: str

    @property
    def answer(self) -> PlanEvaluation:
        """The plan to take; the model as it came where nothing else will do."""
        return self.found.evaluations[self.found.answer]

    @property
    def front(self) -> tuple[int, ...]:
        """Places of what nothing else beats in size, speed and error at once."""
        return front(self.found.evaluations)

    @property
    def remark(self) -> str:
        """What the samples are, and what follows from it; empty where there is nothing to say."""
        if not self.samples:
            return (
                "Inputs were generated: errors rank plans, and say nothing about real data. A "
                "folder of samples would tell."
            )
        if self.held == self.calibrated == 1:
            return "There is one sample: errors were measured on what was calibrated on."
        return ""

    @property
    def finding(self) -> str:
        """The answer in a sentence or two."""
        found = self.found
        if found.answer:
            return f"{_sentence(self.told(found.answer))}"
        within = f"within the budget ({self.required})"
        none = f"{within} and {self.wanted}" if found.met else within
        tried = counted(len(found.evaluations) - 1, "plan")
        nearest = "" if found.nearest is None else f" The nearest: {self.told(found.nearest)}."
        failed = next((one for one in found.evaluations if one.failure), None)
        if found.nearest is None and failed is not None:
            why = f"{failed.plan.text(self.regions)}: {failed.failure}"
            return (
                f"Float: of {tried} tried none can be built and run. {_sentence(why.rstrip('.'))}"
            )
        return f"Float: of {tried} tried none is {none}.{nearest}"

    @property
    def wanted(self) -> str:
        """What an answer is beside within the budget."""
        return "smaller" if self.goal == "size" else "surely faster"

    def told(self, place: int) -> str:
        """A plan that was tried, in words: what it is, what it loses, how fast, how large."""
        one, source = self.found.evaluations[place], self.found.evaluations[0]
        name = one.plan.text(self.regions)
        if one.failure:
            return f"{name}: {one.failure}"
        speed = "not raced" if one.speed is None else str(one.speed)
        size = f"{three_digits(100 * one.size_bytes / source.size_bytes)} % of the size"
        return f"{name}: {'; '.join(filter(None, [self.required.measured(one), speed, size]))}"

    def known_to(self, other: ChosenPlan) -> tuple[PlanEvaluation, ...]:
        """What another search may take over: the same model, ranges, samples and options.

        What a metric gave is not among it: its file may have changed.
        """
        alike = all(
            getattr(self, name) == getattr(other, name)
            for name in ("digest", "regions", "tables", "samples", "held", "integers", "config")
        )
        plain = self.required.metric is None and other.required.metric is None
        return self.found.evaluations if alike and plain else ()

    def pipeline(self, plan: PrecisionPlan) -> Pipeline:
        """The passes that make a plan of the model as it came."""
        prepared = Prepared(self.regions, self.ids, self.digest, self.integers)
        return whole_pipeline(plan, prepared, self.tables)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


renamed(Metric, file=None, labels=None)  # of one machine
CHOSEN = Format(
    ChosenPlan,
    "passlens.precision/1",
    "recorded search for precision",
    names={"config": "options"},
    derived={
        "as": lambda chosen: question_of([chosen.config]),
        "finding": lambda chosen: chosen.finding,
        "remark": lambda chosen: chosen.remark,
        "budget": lambda chosen: str(chosen.required),
        "met": lambda chosen: chosen.found.met,
        "front": lambda chosen: list(chosen.front),
    },
)
