"""The candidates of one kernel: checked first, then raced against the runtime's best form of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import Cancelled, StudioError
from optimizer.isolation import Following, Isolate, silent
from optimizer.model.writer import to_bytes
from optimizer.numbers import counted
from optimizer.verify import jobs
from optimizer.verify.feeds import Feed, draw, planned
from optimizer.verify.runtime import Session, as_file
from optimizer.verify.sizes import plans
from profiling.config import RunConfig
from profiling.execution.availability import gpu_name
from profiling.kernels.candidates import Candidate
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.generated.edge_cases import EdgeCase, size_cases, special_cases
from profiling.kernels.generated.implementations import (
    IMPLEMENTATIONS,
    GeneratedCode,
    Implementation,
    RuntimeChain,
)
from profiling.kernels.generated.own_schedules import scheduled_body
from profiling.kernels.generated.placed import PlacedKernel
from profiling.kernels.generated.single import call_of, told_contents
from profiling.kernels.hotspots import Hotspot
from profiling.kernels.repeated import repeated
from profiling.kernels.selection import WorkloadRace
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.workers import WorkerPool

_RUN_BYTES = 4 << 20
"""What one run of a race reads and writes at least: beside it, calling a session takes no time."""
_MOST_COPIES = 64
_NEAR_ZERO = tuple(number / 64 for number in range(-16, 17))
"""Inputs where standard normal ones overflow, as what feeds an exponential again and again does."""


def race_kernel(
    kernel: PlacedKernel,
    *,
    pool: WorkerPool,
    seconds: float,
    threads: int = 1,
    offered: Sequence[Implementation] = IMPLEMENTATIONS,
    **following: Unpack[Following],
) -> KernelDecision:
    """Check the candidates of a kernel and race those that compute the right thing.

    Args:
        kernel: with its sizes.
        pool: where it runs.
        seconds: of steady running.
        threads: of the session.
        offered: the candidates, at least one of them the runtime's own.
        following: told what is done, and asked often.

    Raises:
        Cancelled: if `cancelled` said so.
    """
    base = RunConfig(intra_threads=threads)
    copies = _copies(kernel)
    models: dict[str, bytes] = {}
    offered = (*offered, *(GeneratedCode(own.label, "halide", own.schedule) for own in kernel.own))
    told, checked = list[Candidate](), dict[str, int]()
    cancelled = following.get("cancelled")
    report = following.get("progress") or silent
    for one in offered:
        report(f"building and checking {one.label}", 0.0)
        isolate = partial(pool.run_fresh if one.own_process else pool, cancelled=cancelled)
        reason, cases = _fitness(one, kernel, isolate)
        if one.target != base.device:
            reason = _not_timed(reason, cases)
        placed = _placed(one, kernel)
        models[one.label] = to_bytes(repeated(placed.model(), copies))
        told.append(Candidate(one.label, one.target, one.changes, unavailable=reason))
        checked |= {one.label: cases} if cases else {}
    operator = Hotspot(kernel.workload(threads), kernel.places, 0.0, 0.0)
    variants = [
        Variant(candidate.label, models[candidate.label], candidate.config(base))
        for candidate in told
        if not candidate.unavailable
    ]
    plan = RacePlan(seconds=seconds, runs=1, request=jobs.Request(seeds=1))
    try:
        feeds = pool(race_feeds, models[offered[0].label], told_contents(kernel.body, kernel.sizes))
        race = measure(variants, pool=pool, plan=plan, feeds=feeds, **following)
    except Cancelled:
        raise
    except StudioError as error:
        raced = WorkloadRace(operator, tuple(told), None, error.message)
    else:
        own = {one.label for one in offered if isinstance(one, RuntimeChain)}
        raced = WorkloadRace(operator, _best_first(told, race, own), race)
    return KernelDecision(kernel.name, copies, threads, checked, raced)


def race_feeds(model: bytes, told: Mapping[str, NDArray[Any]]) -> list[Feed]:
    """How the inputs of a model of copies are filled, so that results are finite. In a worker.

    Args:
        model: calls a kernel, in copies.
        told: contents that the kernel takes for granted, by input.
    """
    path = as_file(model)
    session = Session(path)
    inputs = session.interface.inputs
    plan = next(plans({one.name: one.shape for one in inputs}, {}))
    known = {name: tuple(map(float, array.ravel())) for name, array in told.items()}
    feeds = [
        replace(feed, kind="choice", values=known[name])
        if (name := feed.name.partition(".")[0]) in known
        else feed
        for feed in planned(inputs, plan, jobs.structure_of(path))
    ]
    if _all_finite(session.run(draw(feeds, seed=0))):
        return feeds
    return [
        replace(feed, kind="choice", values=_NEAR_ZERO) if feed.kind == "normal" else feed
        for feed in feeds
    ]


def _all_finite(arrays: Mapping[str, NDArray[Any]]) -> bool:
    return all(
        bool(np.isfinite(array).all()) for array in arrays.values() if array.dtype.kind == "f"
    )


def _fitness(one: Implementation, kernel: PlacedKernel, isolate: Isolate) -> tuple[str, int]:
    """Why a candidate is not raced, empty if it is; and how many edge cases it got right."""
    reason = one.supports(kernel.body)
    if reason:
        return reason, 0
    single = to_bytes(call_of(_placed(one, kernel).body))
    try:
        one.build(single, isolate)
        checked = one.check(single, edge_cases(kernel), isolate)
    except Cancelled:
        raise
    except StudioError as error:
        return error.message, 0
    wrong = f"its result is wrong: {checked.fault}" if checked.fault else ""
    return wrong, checked.cases


def _placed(one: Implementation, kernel: PlacedKernel) -> PlacedKernel:
    """The kernel as a candidate has it: with a schedule, where that is what makes it one."""
    if not isinstance(one, GeneratedCode) or one.own is None:
        return kernel
    return replace(kernel, body=scheduled_body(kernel.body, one.own))


def _not_timed(reason: str, cases: int) -> str:
    """Why there is no time of a candidate for a GPU, and what is known of it all the same.

    Args:
        reason: why it would not be raced there either; empty if it would.
        cases: that it got right in Triton's interpreter.
    """
    here = "this race runs on the CPU" if gpu_name() else "no NVIDIA GPU here"
    if reason:
        return f"{here}; {reason}"
    right = f"right on {counted(cases, 'edge case')}" if cases else "too large to be run"
    return f"{here}; it compiles to PTX and is {right} in Triton's interpreter"


def edge_cases(kernel: PlacedKernel) -> list[EdgeCase]:
    """Where loops end, and numbers that are rarely thought of, for this kernel."""
    inputs = zip(kernel.body.inputs, kernel.body.signature.inputs, strict=True)
    floats = [value.name or "" for value, told in inputs if told.dtype in _FLOATS]
    names = [*kernel.sizes]
    return [*size_cases(names, kernel.sizes), *special_cases(names, floats)]


_FLOATS = frozenset({"FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"})


def _copies(kernel: PlacedKernel) -> int:
    return max(1, min(_MOST_COPIES, _RUN_BYTES // max(1, kernel.moved_bytes)))


def _best_first(
    told: Sequence[Candidate], race: Race, own: frozenset[str] | set[str]
) -> tuple[Candidate, ...]:
    """The runtime's fastest form in front: that is what has to be beaten."""
    times = {
        timing.label: timing.summary.p50_ms
        for timing in race.timings
        if timing.label in own and timing.summary is not None and timing.believable
    }
    best = min(times, key=lambda label: times[label], default="")
    return tuple(sorted(told, key=lambda candidate: candidate.label != best))
