"""The worker's side: run a micro model under the runtime's profiler, many times, and take the best.

A neighbour on the machine can only make a run slower, so the time of a node is the mean of the
fastest quarter of its runs; the profiler writes whole microseconds, which that mean refines.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx_ir as ir

from optimizer.isolation import Progress
from profiling.calibration import launches
from profiling.calibration.micro import Micro, feeds_of, model_of
from profiling.config import RunConfig
from profiling.execution.session import open_session
from profiling.kernels.node_times import read_times
from profiling.timeline.bare import BareRuns
from profiling.timeline.events import Run, parse_profile

_WARM_RUNS = 3
_RUNS, _MOST_RUNS = 20, 60
_SECONDS = 0.02
_LAUNCH_RUNS = 24


def time_micros(
    micros: tuple[Micro, ...], config: RunConfig, *, progress: Progress | None = None
) -> list[float | None]:
    """Microseconds of each micro model's node; None where the runtime refuses it."""
    found: list[float | None] = []
    for number, micro in enumerate(micros):
        if progress is not None:
            progress(f"{micro.operator}", number / len(micros))
        try:
            found.append(node_times(model_of(micro), config).get("node"))
        except Exception:  # the runtime has a dozen classes for an operator that it lacks
            found.append(None)
    return found


def time_launches(config: RunConfig) -> dict[str, float]:
    """Microseconds of every node of `launches.model()`, without what the profiler takes."""
    model = launches.model()
    if config.device != "cpu":
        return dict(node_times(model, config, runs=_LAUNCH_RUNS))
    feeds = feeds_of(model)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "launches.onnx"
        ir.save(model, path)
        session = open_session(path, config, profile_prefix=str(folder / "profile"))
        beside: Any = open_session(path, config)
        bare = BareRuns(config, folder, lambda: beside.run(None, feeds))
        for _ in range(_WARM_RUNS + _LAUNCH_RUNS):
            session.run(None, feeds)
            bare.run()
        runs = parse_profile(_profile_of(session)).runs
        cost = bare.cost(runs, usual=fastest_quarter)
    return {name: cost.work_us(us) for name, us in _fastest(runs).items()}


def node_times(model: ir.Model, config: RunConfig, *, runs: int = _RUNS) -> Mapping[str, float]:
    """Microseconds by node, the profiler's own included: the fastest of at least `runs` runs."""
    feeds = feeds_of(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "micro.onnx"
        ir.save(model, path)
        session = open_session(path, config, profile_prefix=str(Path(folder) / "profile"))
        _repeat(session, feeds, runs)
        text = _profile_of(session)
    if config.device != "cpu":
        return read_times(text).times_us
    return _fastest(parse_profile(text).runs)


def _profile_of(session: Any) -> str:
    return Path(str(session.end_profiling())).read_text(encoding="utf-8")


def _fastest(runs: Sequence[Run]) -> dict[str, float]:
    """Microseconds by node: the fastest quarter of runs, but for the first few."""
    spent: dict[str, list[float]] = {}
    for run in runs[_WARM_RUNS:]:
        for event in run.events:
            spent.setdefault(event.node, []).append(event.duration_us)
    return {name: fastest_quarter(times) for name, times in spent.items()}


def _repeat(session: Any, feeds: Mapping[str, Any], runs: int) -> None:
    """At least so many runs, and more where they are short."""
    started = time.perf_counter()
    for number in range(_MOST_RUNS + _WARM_RUNS):
        if number >= runs + _WARM_RUNS and time.perf_counter() - started > _SECONDS:
            return
        session.run(None, feeds)


def fastest_quarter(times: Sequence[float]) -> float:
    """The mean of the fastest quarter."""
    return _mean_of_fastest(times, len(times) // 4)


def faster_half(times: Sequence[float]) -> float:
    """The mean of the faster half.

    That is for sessions: where in memory each lays what it needs makes nodes faster and slower.
    """
    return _mean_of_fastest(times, len(times) // 2)


def faster_halves(sessions: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The same for everything that has a name."""
    return {name: faster_half([one[name] for one in sessions]) for name in sessions[0]}


def _mean_of_fastest(times: Sequence[float], count: int) -> float:
    fastest = sorted(times)[: max(1, count)]
    return sum(fastest) / len(fastest)
