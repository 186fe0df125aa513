"""A model with and without a captured graph: stages, latencies, kernels, state of the GPU.

ONNX Runtime does not time the stages of a capture. Where CUPTI records, they are taken from its
API calls (`cudaStreamBeginCapture` … `EndCapture`, `cudaGraphInstantiate`, `cudaGraphLaunch`) in
the first call; else only what the first call takes longer is known, and labelled so. Latencies are
measured while nothing records. Both sides bind inputs and outputs at fixed addresses on the GPU,
each in a process of its own.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from optimizer.isolation import Progress, silent
from optimizer.verify import jobs
from profiling.config import RunConfig
from profiling.cuda import device
from profiling.cuda.activity import Collection
from profiling.cuda.device import DeviceSample, Unavailable
from profiling.cuda.device_trace import DeviceTrace
from profiling.cuda.launches import Stage, graph_calls, stages_of
from profiling.execution.binding import BoundRun, latency_ms
from profiling.execution.session import assigned_nodes, open_session

_RECORDED = 3
FIRST = "first call"


@dataclass(frozen=True, slots=True)
class CapturePlan:
    """How much to run.

    Attributes:
        runs: steady ones of each shape.
        seconds: for the steady runs of one side.
        shapes: sizes of free dimensions, each captured under an id of its own; empty for the
            sizes that the model suggests.
    """

    runs: int = 200
    seconds: float = 5.0
    shapes: tuple[Mapping[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ShapeRuns:
    """One shape on one side.

    Attributes:
        sizes: of the free dimensions that were bound.
        graph_id: under which it was captured, 0 without a capture.
        first_ms: the first call; with a capture it is a plain run, the capture and a replay.
        latencies_ms: of the steady runs, while nothing recorded.
        stages: of the captured graph, as far as they are known.
        first: calls about graphs in the first call, None where nothing records.
        steady: what the GPU did in a later run.
    """

    sizes: Mapping[str, int]
    graph_id: int
    first_ms: float
    latencies_ms: tuple[float, ...]
    stages: tuple[Stage, ...] = ()
    first: DeviceTrace | None = None
    steady: DeviceTrace | None = None


@dataclass(frozen=True, slots=True)
class CaptureSide:
    """One side: with a captured graph, or without.

    Attributes:
        captured: whether graphs were captured.
        create_ms: creating the session.
        assigned: nodes by provider, as the runtime says; empty if it does not.
        shapes: in the order of the plan.
        samples: the GPU's state meanwhile.
        remarks: what could not be measured, and why.
    """

    captured: bool
    create_ms: float
    assigned: Mapping[str, int]
    shapes: tuple[ShapeRuns, ...]
    samples: tuple[DeviceSample, ...] = ()
    remarks: tuple[str, ...] = ()


def capture_side(
    model: Path,
    config: RunConfig,
    plan: CapturePlan,
    *,
    progress: Progress | None = None,
) -> CaptureSide:
    """Run one side; `config.cuda_graph` says which. Only in a fresh worker with a GPU.

    Raises:
        RunError: there is no GPU, the model does not run, or it cannot be captured.
    """
    report = progress or silent
    report("computing what is right, on the CPU", 0.0)
    shapes = plan.shapes or ({},)
    requests = [jobs.Request(seeds=1, bindings=sizes) for sizes in shapes]
    references = [jobs.run_reference(model, request).runs[0] for request in requests]
    report("creating the session", 0.3)
    started = time.perf_counter_ns()
    session = open_session(model, config)
    create_ms = (time.perf_counter_ns() - started) / 1e6
    remarks, runs = list[str](), list[ShapeRuns]()
    with _watched(config.device_id, remarks) as samples:
        for number, (sizes, reference) in enumerate(zip(shapes, references, strict=True), start=1):
            part = (number - 1) / len(shapes)
            report(f"running shape {number} of {len(shapes)}", 0.4 + 0.6 * part)
            graph_id = number if config.cuda_graph else 0
            bound = BoundRun(
                session, reference.inputs, reference.outputs,
                device=f"cuda:{config.device_id}", graph_id=graph_id or None,
            )  # fmt: skip
            empty = ShapeRuns(dict(sizes), graph_id, 0.0, ())
            runs.append(_measured(bound, empty, plan, remarks))
    counts = {provider: len(nodes) for provider, nodes in assigned_nodes(session).items()}
    return CaptureSide(
        config.cuda_graph, create_ms, counts, tuple(runs), tuple(samples), tuple(remarks)
    )


def _measured(bound: BoundRun, runs: ShapeRuns, plan: CapturePlan, remarks: list[str]) -> ShapeRuns:
    """First call and a few later ones under records, the rest without."""
    clock = time.perf_counter_ns
    first_ms = 0.0

    def first_call() -> None:
        nonlocal first_ms
        first_ms = latency_ms(bound, clock)

    first = recorded({FIRST: first_call}, remarks)
    latencies = steady(bound, plan, clock)
    later = {f"run {number + 1}": bound for number in range(_RECORDED)}
    traced = recorded(later, remarks)
    stages = stages_of(first) if first is not None and runs.graph_id else ()
    return replace(
        runs,
        first_ms=first_ms,
        latencies_ms=latencies,
        stages=tuple(stages),
        first=None if first is None else graph_calls(first),
        steady=None if traced is None else traced.within(traced.ranges[-1]),
    )


def recorded(calls: Mapping[str, Callable[[], object]], remarks: list[str]) -> DeviceTrace | None:
    """Make each call once, recorded by CUPTI; where that is impossible a remark says why."""
    waiting = list(calls.items())
    try:
        with Collection() as collection:
            while waiting:
                label, call = waiting.pop(0)
                collection.run(label, call)
    except Unavailable as error:
        if error.message not in remarks:
            remarks.append(error.message)
        for _, call in waiting:
            call()
        return None
    return collection.trace


def steady(
    run: Callable[[], object], plan: CapturePlan, clock: Callable[[], int]
) -> tuple[float, ...]:
    """Latencies in milliseconds until the plan's runs are done or its time is up."""
    latencies: list[float] = []
    ends = clock() + int(plan.seconds * 1e9)
    gc.disable()
    try:
        while len(latencies) < plan.runs and (not latencies or clock() < ends):
            latencies.append(latency_ms(run, clock))
    finally:
        gc.enable()
    return tuple(latencies)


@contextlib.contextmanager
def _watched(number: int, remarks: list[str]) -> Generator[list[DeviceSample]]:
    try:
        with device.watching(number) as samples:
            yield samples
    except Unavailable as error:
        remarks.append(error.message)
        yield []
