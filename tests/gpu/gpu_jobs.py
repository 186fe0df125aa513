"""What the tests for a GPU run in workers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from optimizer.errors import StudioError
from optimizer.verify import jobs
from optimizer.verify.values import Array
from profiling.config import RunConfig
from profiling.cuda import device
from profiling.cuda.activity import Collection
from profiling.cuda.device import DeviceSample
from profiling.execution.binding import BoundRun
from profiling.execution.session import open_session


def differences(model: Path, configs: dict[str, RunConfig]) -> dict[str, float | str]:
    """How far each config's result is from the CPU's, as a share of its scale; or its refusal."""
    reference = jobs.run_reference(model, jobs.Request(seeds=1)).runs[0]
    found: dict[str, float | str] = {}
    for label, config in configs.items():
        try:
            bound = _bound(open_session(model, config), reference)
            bound()
            found[label] = max(
                _apart(bound.output(name), wanted) for name, wanted in reference.outputs.items()
            )
        except StudioError as error:
            found[label] = error.message
    return found


@dataclass(frozen=True, slots=True)
class Replayed:
    """Runs of one captured graph.

    Attributes:
        apart: how far each run's result is from the CPU's for the same inputs.
        moved: whether inputs or outputs changed their addresses.
        varied: whether the results differ from run to run.
    """

    apart: tuple[float, ...]
    moved: bool
    varied: bool


def replayed(model: Path, config: RunConfig) -> Replayed:
    """A captured graph on other numbers each time."""
    runs = jobs.run_reference(model, jobs.Request(seeds=4)).runs
    bound = _bound(open_session(model, config), runs[0])
    places, results = bound.addresses(), list[Array]()
    apart: list[float] = []
    for run in runs:
        for name, values in run.inputs.items():
            bound.update(name, values)
        bound()
        ((name, wanted),) = run.outputs.items()
        results.append(np.array(bound.output(name)))
        apart.append(_apart(results[-1], wanted))
    varied = not any(np.array_equal(results[0], other) for other in results[1:])
    return Replayed(tuple(apart), places != bound.addresses(), varied)


def kernels_of_runs(model: Path, config: RunConfig) -> list[int]:
    """Kernels that CUPTI recorded in each of three runs."""
    bound = _bound(open_session(model, config), jobs.run_reference(model, jobs.Request()).runs[0])
    bound()
    with Collection() as collection:
        for number in range(3):
            collection.run(f"run {number}", bound)
    trace = collection.trace
    return [
        sum(event.kind == "kernel" for event in trace.within(range_).events)
        for range_ in trace.ranges
    ]


def samples_of_runs(model: Path, config: RunConfig) -> tuple[DeviceSample, ...]:
    """The GPU's state during half a second of runs."""
    bound = _bound(open_session(model, config), jobs.run_reference(model, jobs.Request()).runs[0])
    with device.watching() as samples:
        ends = time.monotonic() + 0.5
        while time.monotonic() < ends:
            bound()
    return tuple(samples)


def refused(paths: list[Path], config: RunConfig) -> dict[str, str]:
    """Models for which the runtime creates no session, and its reasons."""
    found: dict[str, str] = {}
    for path in paths:
        try:
            open_session(path, config)
        except StudioError as error:
            found[path.stem] = error.message
    return found


def _bound(session: Any, run: jobs.ReferenceRun) -> BoundRun:
    return BoundRun(session, run.inputs, run.outputs, device="cuda:0")


def _apart(given: Array, wanted: Array) -> float:
    left, right = given.astype(np.float64), wanted.astype(np.float64)
    return float(np.abs(left - right).max() / (np.abs(right).max() or 1.0))
