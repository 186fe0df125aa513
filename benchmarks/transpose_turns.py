"""A Transpose, another way to write it and a plain copy, in turns, in a worker process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx_ir as ir

from profiling.calibration.micro import feeds_of
from profiling.config import RunConfig
from profiling.execution.binding import BoundRun, latency_ms
from profiling.execution.session import open_session

SECONDS, MOST_TURNS, LEAST_TURNS, WARM_TURNS = 0.6, 400, 60, 5


def turns(*models: bytes) -> list[list[float]]:
    """In the worker: microseconds of each model and of a copy of its input, turn by turn."""
    bound = [_bound(model, Path(f"{index}.onnx")) for index, model in enumerate(models)]
    source = bound[0].output("x")
    target = np.empty_like(source)
    calls: list[Callable[[], object]] = [*bound, lambda: np.copyto(target, source)]
    times: list[list[float]] = [[] for _ in calls]
    started = time.perf_counter()
    for turn in range(MOST_TURNS):
        if turn >= LEAST_TURNS and time.perf_counter() - started > SECONDS:
            break
        for index in range(len(calls)) if turn % 2 else reversed(range(len(calls))):
            times[index].append(latency_ms(calls[index], time.perf_counter_ns) * 1e3)
    return [one[WARM_TURNS:] for one in times]


def _bound(model: bytes, path: Path) -> BoundRun:
    path.write_bytes(model)
    config = RunConfig(graph_optimization="disabled", intra_threads=1)
    session = open_session(path, config)
    feeds = feeds_of(ir.load(path))
    outputs = {"y": np.zeros([1] * feeds["x"].ndim, feeds["x"].dtype)}
    return BoundRun(session, feeds, outputs, device="cpu")
