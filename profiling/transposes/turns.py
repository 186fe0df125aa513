"""A Transpose, another way to write it and a plain copy, in turns, in a worker process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from optimizer.layout.transposes import MovedTensor
from profiling.config import RunConfig
from profiling.execution.binding import BoundRun, latency_ms
from profiling.execution.session import open_session
from profiling.transposes.model import elements_of

MOST_TURNS, LEAST_TURNS, WARM_TURNS = 100, 10, 3
SESSIONS = 4
"""Of each model, one after the other: where a session's memory happens to lie is worth percents."""


def turns(tensor: MovedTensor, seconds: float, *models: bytes) -> list[list[float]]:
    """In the worker: microseconds of each model and of a copy of the input, turn by turn.

    Args:
        tensor: what the models take, as `x`.
        seconds: to measure for; there are some turns even where they take longer.
        models: ONNX files whose output `y` has one element.
    """
    source = np.ones(tensor.shape, elements_of(tensor))
    order = np.random.default_rng(0)
    times: list[list[float]] = [[] for _ in (*models, "copy")]
    for _ in range(SESSIONS):
        bound = {
            index: _bound(models[index], Path(f"{index}.onnx"), source)
            for index in map(int, order.permutation(len(models)))
        }
        read = bound[0].output("x")
        target = np.empty_like(read)
        calls = [bound[index] for index in range(len(models))]
        found = _timed([*calls, partial(np.copyto, target, read)], seconds / SESSIONS, order)
        for every, some in zip(times, found, strict=True):
            every += some
    return times


def _timed(
    calls: Sequence[Callable[[], object]], seconds: float, order: np.random.Generator
) -> list[list[float]]:
    """Each turn in another order: what ran before leaves its traces in the caches."""
    times: list[list[float]] = [[] for _ in calls]
    started = time.perf_counter()
    for turn in range(MOST_TURNS):
        if turn >= LEAST_TURNS and time.perf_counter() - started > seconds:
            break
        for index in map(int, order.permutation(len(calls))):
            times[index].append(latency_ms(calls[index], time.perf_counter_ns) * 1e3)
    return [one[WARM_TURNS:] for one in times]


def _bound(model: bytes, path: Path, source: np.ndarray) -> BoundRun:
    path.write_bytes(model)
    session = open_session(path, RunConfig(graph_optimization="disabled", intra_threads=1))
    outputs = {"y": np.zeros([1] * source.ndim, source.dtype)}
    return BoundRun(session, {"x": source}, outputs, device="cpu")
