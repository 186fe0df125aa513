"""Races made up for tests of what is drawn and said about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import plotly.graph_objects as go

from optimizer.verify import Comparison
from profiling.config.question import Question, config_for
from profiling.machine import Machine
from profiling.racing.race import Phases, Race, Timing
from profiling.racing.sweep import Sweep, SweepPoint

MACHINE = Machine("Test CPU", 2, 8 << 30, "", "Linux 6 x86_64", "onnxruntime 1.31.1", 0.1)
EQUAL = (Comparison("y", ok=True, same_bits=True),)
ROUNDS = 12


def timing(
    label: str,
    latency_ms: float = 1.0,
    *,
    rounds: int = ROUNDS,
    error: str = "",
    question: Question = "bare",
) -> Timing:
    """A variant that takes about `latency_ms`; its first run takes ten times as long."""
    return Timing(
        label,
        config_for(question, {}),
        error=error,
        phases=Phases(30.0, 20.0, 10 * latency_ms, (5 * latency_ms,) * 4 + (latency_ms,) * 20),
        blocks_ms=blocks(latency_ms, rounds=rounds),
        peak_bytes=100_000_000,
        providers=("CPUExecutionProvider",),
        outputs=EQUAL,
    )


def blocks(latency_ms: float, *, rounds: int = ROUNDS) -> tuple[tuple[float, ...], ...]:
    """Blocks of ten runs, with a little noise that is always the same."""
    return tuple(
        tuple(latency_ms * (1 + 0.002 * ((7 * number + 3 * run) % 11)) for run in range(10))
        for number in range(rounds)
    )


def race(timings: Sequence[Timing]) -> Race:
    """A race of these variants."""
    return Race(tuple(timings), (), True, MACHINE, 0.2, "2026-11-21T12:00:00+00:00", 12.0)


def drawn(figure: go.Figure) -> dict[str, Any]:
    """What a figure sends to the browser."""
    return json.loads(cast("str", figure.to_json()))


def deployed(found: Race) -> Race:
    """The same race, had it been run deployed."""
    config = config_for("deployed", {})
    return replace(found, timings=tuple(replace(one, config=config) for one in found.timings))


THREE = race([timing("source"), timing("default preset", 0.8), timing("runtime preset", 0.7)])
SWEPT = Sweep(
    "batch",
    ("source", "default preset"),
    (
        SweepPoint(1, race([timing("source"), timing("default preset", 0.5)])),
        SweepPoint(2, None, "A size of 2 does not fit."),
        SweepPoint(4, race([timing("source", 4.0), timing("default preset", 1.0)])),
    ),
)
