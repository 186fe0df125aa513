"""The worker's side: run a micro model under the runtime's profiler, many times, and take the best.

A neighbour on the machine can only make a run slower, so the time of a node is the mean of the
fastest quarter of its runs; the profiler writes whole microseconds, which that mean refines.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx_ir as ir

from optimizer.isolation import Progress
from profiling.calibration import launches, weights
from profiling.calibration.micro import Micro, feeds_of, model_of
from profiling.config import RunConfig
from profiling.execution.session import open_session
from profiling.kernels.node_times import read_times
from profiling.timeline.events import parse_profile

_WARM_RUNS = 3
_RUNS, _MOST_RUNS = 20, 60
_SECONDS = 0.02
_WEIGHTS_RUNS = 12
_LAUNCH_RUNS = 24
_CHAIN = (50, 450)
_CHAIN_RUNS = 40


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
    """Microseconds of every node of `launches.model()`."""
    return dict(node_times(launches.model(), config, runs=_LAUNCH_RUNS))


def time_weights(config: RunConfig) -> dict[str, float]:
    """Microseconds of a node that needs weights from far, by kind: the middle of equal ones."""
    kinds: dict[str, list[float]] = {}
    for name, us in node_times(weights.model(), config, runs=_WEIGHTS_RUNS).items():
        kinds.setdefault(weights.kind(name), []).append(us)
    return {kind: sorted(found)[len(found) // 2] for kind, found in kinds.items()}


def time_clock(config: RunConfig) -> float:
    """What the profiler adds to a node: equal tiny nodes by its clock, less what whole runs say."""
    lengths = [_chain(length) for length in _CHAIN]
    profiled = node_times(lengths[0], config, runs=_MOST_RUNS)
    short, long = (_run_us(model, config) for model in lengths)
    middle = sorted(profiled.values())[len(profiled) // 2]
    return max(0.0, middle - (long - short) / (_CHAIN[1] - _CHAIN[0]))


def node_times(model: ir.Model, config: RunConfig, *, runs: int = _RUNS) -> Mapping[str, float]:
    """Microseconds by node: the fastest quarter of at least `runs` runs."""
    feeds = feeds_of(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "micro.onnx"
        ir.save(model, path)
        session = open_session(path, config, profile_prefix=str(Path(folder) / "profile"))
        _repeat(session, feeds, runs)
        text = Path(str(session.end_profiling())).read_text(encoding="utf-8")
    if config.device != "cpu":
        return read_times(text).times_us
    spent: dict[str, list[int]] = {}
    for run in parse_profile(text).runs[_WARM_RUNS:]:
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


def _run_us(model: ir.Model, config: RunConfig) -> float:
    """The fastest of many whole runs."""
    feeds = feeds_of(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.onnx"
        ir.save(model, path)
        session = open_session(path, config)
    spent: list[int] = []
    gc.disable()
    try:
        for _ in range(_CHAIN_RUNS):
            started = time.perf_counter_ns()
            session.run(None, feeds)
            spent.append(time.perf_counter_ns() - started)
    finally:
        gc.enable()
    return min(spent) / 1e3


def _chain(length: int) -> ir.Model:
    first = ir.val("x", ir.DataType.FLOAT, (1,))
    nodes: list[ir.Node] = []
    for number in range(length):
        operand = nodes[-1].outputs[0] if nodes else first
        nodes.append(ir.node("Neg", [operand], name=f"node{number}"))
    return launches.finished([first], [], nodes, nodes[-1].outputs)


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
