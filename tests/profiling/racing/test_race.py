from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.errors import StudioError
from optimizer.verify import Comparison, Feed
from profiling.config import RunConfig
from profiling.machine import Machine
from profiling.racing.clock import RaceClock
from profiling.racing.plan import RacePlan
from profiling.racing.race import RACE, Phases, Race, Timing, Variant
from profiling.racing.runners import Runner
from tests.profiling.codegen.generated_models import generated_bytes

MACHINE = Machine("a CPU", 2, 1 << 33, "", "Linux", "onnxruntime 1.0", 0.25)


def a_race() -> Race:
    phases = Phases(1.5, 2.5, 3.5, (4.0, 3.0), 20.0, 1.0, 40.0, 71.5)
    outputs = (Comparison("inf", ok=False, reason="nan", max_abs=math.inf, scale=2.0),)
    return Race(
        timings=(
            Timing("source", RunConfig(), "", phases, ((1.0, 2.0), (3.0,)), 1 << 20, ("CPU",)),
            Timing("other", RunConfig(graph_optimization="basic"), "no", None, outputs=outputs),
            Timing("cuda", RunConfig(device="cuda"), nodes_on={"CUDA": 3}),
        ),
        feeds=(Feed("x", "float32", (1, 3)), Feed("i", "int64", (), "choice", 0, 3, (1.0, -1.0))),
        transfers=False,
        machine=MACHINE,
        load_after=1.25,
        started_at="2026-01-01T00:00:00+00:00",
        seconds=12.5,
    )


def test_a_race_comes_back_from_json_as_it_was() -> None:
    text = json.dumps(RACE.to_json(a_race()), allow_nan=False)
    assert RACE.from_json(json.loads(text)) == a_race()


def test_a_race_remarks_that_a_variant_ran_without_a_kernel(tmp_path: Path) -> None:
    def build(*_args: object, **_limits: object) -> Any:
        return ("Kernel k has no code: a test refuses it.",)

    runner = Runner(Variant("v", generated_bytes()), tmp_path / "v.onnx", RaceClock(RacePlan(), 1))
    runner.build(build)
    race = replace(a_race(), timings=(runner.timing,))
    assert race.remarks == (
        "'v' ran without 1 kernel, whose operators ran: Kernel k has no code: a test refuses it.",
    )


def test_something_else_is_no_race() -> None:
    with pytest.raises(StudioError, match="no recorded race"):
        RACE.from_json({"schema": "passlens.bench/1"})


def test_a_race_with_a_part_missing_is_damaged() -> None:
    data = RACE.to_json(a_race())
    del data["variants"][0]["label"]
    with pytest.raises(StudioError, match=r"damaged: .*missing @ \$\.timings\[0\]\.label"):
        RACE.from_json(data)


def test_parts_and_the_cold_start_follow_from_the_phases() -> None:
    timing = a_race().timings[0]
    assert sum(timing.parts_ms.values()) == 20 + 1.5 + 2.5 + 3.5 + 7 + 6 + 1 + 40
    assert timing.phases is not None
    assert timing.phases.cold_ms == 7.5
    assert timing.cold_to_warm == 3.75
    assert a_race().timings[1].cold_to_warm is None


def test_a_race_under_way_says_that_there_are_no_times_yet() -> None:
    race = a_race()
    assert race.verdict("cuda") == "no times yet"
    assert race.verdict("source") == "the baseline"
    assert race.verdict("other").startswith("not measured: ")
