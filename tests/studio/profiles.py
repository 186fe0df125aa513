"""Profiles to draw and to keep, none of them measured."""

from __future__ import annotations

import random

from profiling.config import RunConfig
from profiling.timeline.events import Event, Memory, Run, Timeline
from profiling.timeline.memory import memory
from profiling.timeline.origins import SourceNode, StepNode
from profiling.timeline.profile import Profile
from studio.timeline.result import Profiled, ProfileReport
from studio.variants.variant import TraceVariant
from tests.profiling.records.samples import XEON


def profiled(*, runs: int, operators: int = 2, variants: int = 1) -> ProfileReport:
    """Variants "a", "a1", … that ran, the steady one in the middle at 1005 µs if there are ten;
    then "b", which did not.

    Args:
        runs: of each, the first of 3 ms.
        operators: of each; with many the runtime tells of its arena, as it does.
        variants: that ran.
    """
    count = range(operators)
    names = [f"/model/encoder/layer.{i}/attention/self/MatMul_{i}" for i in count]
    nodes = {name: StepNode(f"n{i}", "MatMul", (f"n{i}",)) for i, name in enumerate(names)}
    found = [
        Profiled(
            TraceVariant(f"a{i or ''}", 0, RunConfig()), 0,
            _profile(names, runs, random.Random(i)), nodes, workload="ab",
        )
        for i in range(variants)
    ]  # fmt: skip
    failed = Profiled(TraceVariant("b", -1, RunConfig()), 4, None, nodes, "It does not run.")
    source = {f"n{i}": SourceNode(name, "MatMul", "kept") for i, name in enumerate(names)}
    started = "2026-11-21T12:00:00+00:00"
    return ProfileReport("bert", "cd" * 32, XEON, started, 21.5, (*found, failed), source, runs)


def _profile(names: list[str], runs: int, rng: random.Random) -> Profile:
    made = [_run(names, number, rng) for number in range(runs)]
    curves = tuple(memory(run) for run in made)
    kernels = {name: (name,) for name in names}
    return Profile(Timeline(2_000, 3_000, tuple(made)), curves, kernels)


def _run(names: list[str], number: int, rng: random.Random) -> Run:
    start = 1_000_000 * number
    many = len(names) > 2
    events = tuple(
        Event(
            name, "MatMul", "CPUExecutionProvider", start + 60 * index, rng.randint(1, 59), 123_456,
            index, 1_234_567, 1_234_567, 7_654_321,
            Memory(10**8 + index, 10**8 + 2 * index, 2 * 10**8, 10**8) if many else None,
            1234, ((0, rng.randint(0, 1)), (991_234, rng.randint(0, 1))),
        )
        for index, name in enumerate(names)
    )  # fmt: skip
    return Run(start, 1000 + number if number else 3000, events)
