"""What the steps of a run cost on paper, read from the file the viewer gets."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError
from optimizer.operators.generated import GENERATED, region_title
from profiling.worth.waterfall import METRICS, Metric, StepCost
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cost.prediction.job import PredictedSteps


@dataclass(frozen=True, slots=True)
class PassName:
    """A pass as people know it."""

    title: str
    family: str


@dataclass(frozen=True, slots=True)
class TraceCosts:
    """One run.

    Attributes:
        steps: what each changed.
        totals: of the source and of the optimized graph, by metric.
        names: of every pass, by id.
        seconds: CPU time of optimizing.
    """

    steps: tuple[StepCost, ...]
    totals: Mapping[Metric, Sequence[int]]
    names: Mapping[str, PassName]
    seconds: float

    @property
    def fired(self) -> dict[str, int]:
        """Rewrites by pass, in the order in which they first fired."""
        found: dict[str, int] = {}
        for step in self.steps:
            found[step.pass_id] = found.get(step.pass_id, 0) + 1
        return found

    def with_predicted(self, predicted: PredictedSteps) -> TraceCosts:
        """The same with one more metric: nanoseconds on a device."""
        steps = tuple(
            replace(step, delta={**step.delta, "predicted": change})
            for step, change in zip(self.steps, predicted.changes_ns, strict=True)
        )
        ends = (predicted.before_ns, predicted.after_ns)
        return replace(self, steps=steps, totals={**self.totals, "predicted": ends})


def trace_costs(store: Store, model: OpenedModel, run: OpenedRun) -> TraceCosts:
    """The costs of a run's steps.

    Raises:
        StudioError: the run is no longer on disk.
    """
    path = store.file(model.key, run.key)
    if path is None:
        raise StudioError("This run is no longer on disk; optimize the model again.")
    return _read(path)


@lru_cache(maxsize=16)
def _read(path: Path) -> TraceCosts:
    """A run's folder never changes, so what was read stays true."""
    data: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    passes = data["passes"]
    kernels = {node["id"]: node["op"] for node in data["nodes"] if node.get("domain") == GENERATED}
    steps = tuple(
        StepCost(step["n"], passes[step["pass"]]["id"], _rule(step, kernels), step["delta"])
        for step in data["steps"]
    )
    names = {entry["id"]: PassName(entry["title"], entry["family"]) for entry in passes}
    totals: dict[Metric, Sequence[int]] = {metric: data["totals"][metric] for metric in METRICS}
    return TraceCosts(steps, totals, names, float(data["seconds"]))


def _rule(step: Mapping[str, Any], kernels: Mapping[str, str]) -> str:
    """The rule of a step; of one that writes a generated kernel its region."""
    made = (kernels[node] for node in step["added"] if node in kernels)
    return next(map(region_title, made), step["rule"])


def steps_text(steps: Sequence[int]) -> str:
    """Which steps: "steps 1–53", or how many where they are scattered."""
    first, last = steps[0], steps[-1]
    if len(steps) == 1:
        return f"step {first}"
    if last - first + 1 == len(steps):
        return f"steps {first}–{last}"
    return f"{len(steps)} steps between {first} and {last}"
