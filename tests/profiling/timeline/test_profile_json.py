from __future__ import annotations

import json
from dataclasses import replace

import pytest

from optimizer.errors import StudioError
from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.events import Event, Memory, Run, Timeline
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.profile import Profile
from profiling.timeline.profile_json import profile_from_json, profile_to_json
from profiling.timeline.profiler_cost import ProfilerCost
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model
from tests.profiling.timeline.measured import measured

EVENT = Event(
    "a", "Conv", "CPUExecutionProvider", 3, 4, 7, 0, 10, 20, 30, None, 5, ((0, 1), (9, 0))
)
COST = {"node_us": 1.5, "between_us": 4.0, "slower": 0.25, "bare_us": [9.0, 8.5]}
CHANGES: list[dict[str, object]] = [
    {"profiler": {**COST, "node_us": -1.0}},
    {"profiler": {**COST, "slower": 1.5}},
    {"profiler": 3},
    {"schema": "passlens.race/1"},
    {"runs": [0]},
    {"kernels": 3},
    {"kernels": [[0]]},
]
RUN = Run(1, 20, (EVENT, Event("b", "Relu", "", 8, 1, 7, 1, 1, 2, 3, Memory(9, 8, 7, 6))), 2, 15)


def test_everything_in_a_profile_comes_back() -> None:
    curve = MemoryCurve("runtime", (6, 8), (1, 2), (3, 4), (5, 6), 7, 8)
    made = Profile(Timeline(1, 2, (RUN, Run(30, 1, ()))), (curve,), {"a": ("x", "y"), "b": ()})
    assert profile_from_json(json.loads(json.dumps(profile_to_json(made)))) == made


def test_what_the_profiler_cost_stays_with_the_profile_and_is_taken_off_again() -> None:
    made = Profile(Timeline(0, 0, (RUN, RUN)), (), profiler=ProfilerCost(1.5, 4.0, 0.25, (9.0,)))
    again = profile_from_json(json.loads(json.dumps(profile_to_json(made))))
    assert again == made
    assert again.steady == made.steady != RUN


def test_in_an_older_recording_nothing_is_taken_off() -> None:
    data = profile_to_json(Profile(Timeline(0, 0, (RUN,)), ()))
    del data["profiler"]
    again = profile_from_json(json.loads(json.dumps(data)))
    assert again.profiler is None
    assert again.first == RUN


def test_the_memory_of_a_device_comes_back() -> None:
    curves = tuple(MemoryCurve("device", (0, time), (5, 7), ()) for time in (800, 900))
    made = Profile(Timeline(0, 0, (RUN, RUN)), (), {}, curves, "no driver")
    assert profile_from_json(json.loads(json.dumps(profile_to_json(made)))) == made


def test_a_profile_of_the_first_version_is_read() -> None:
    columns = {
        "node": ["a"], "op_type": ["Conv"], "provider": ["CPU"], "start_us": [3],
        "duration_us": [4], "thread": [7], "order": [0], "output_bytes": [10],
        "activation_bytes": [20], "parameter_bytes": [30], "memory_change": [5],
        "workers": [[[0, 1]]],
    }  # fmt: skip
    run = {"start_us": 1, "duration_us": 20, "executor_start_us": 2, "executor_us": 15}
    curve = {
        "source": "runtime", "times_us": [6], "live_bytes": [1], "held_bytes": [3],
        "used_bytes": [5], "base_bytes": 7, "high_bytes": 8,
    }  # fmt: skip
    data = {
        "schema": "passlens.profile/1", "load_us": 1, "create_us": 2,
        "runs": [{**run, "events": columns, "memory": [[9, 8, 7, 6]]}],
        "memory": [curve], "kernels": {"a": ["x", "y"]},
    }  # fmt: skip
    event = Event("a", "Conv", "CPU", 3, 4, 7, 0, 10, 20, 30, Memory(9, 8, 7, 6), 5, ((0, 1),))
    assert profile_from_json(data) == Profile(
        Timeline(1, 2, (Run(1, 20, (event,), 2, 15),)),
        (MemoryCurve("runtime", (6,), (1,), (3,), (5,), 7, 8),),
        {"a": ("x", "y")},
    )


def test_kernels_that_were_left_out_are_told_again() -> None:
    made = Profile(Timeline(0, 0, (RUN,)), (), left_out=("Kernel k has no code.",))
    assert profile_from_json(profile_to_json(made)).left_out == made.left_out


def test_what_repeats_is_written_once() -> None:
    later = replace(RUN, start_us=50, events=tuple(replace(e, start_us=60) for e in RUN.events))
    data = profile_to_json(Profile(Timeline(0, 0, (RUN, later)), ()))
    assert data["words"] == ["a", "b", "Conv", "Relu", "CPUExecutionProvider", ""]
    told = {name for name, column in data["runs"][1]["events"].items() if column is not None}
    assert told == {"start_us"}


def test_a_real_profile_comes_back(shared_pool: WorkerPool) -> None:
    made = measured(
        Variant(
            "v", model("g (float[64,64] x) => (float[64,64] y) {\n[one] y = MatMul(x, x)\n}"),
            RunConfig(intra_threads=2),
        ),
        pool=shared_pool,
        runs=2,
    )  # fmt: skip
    assert profile_from_json(json.loads(json.dumps(profile_to_json(made)))) == made
    assert made.timeline.runs[0].events[0].workers
    assert made.timeline.runs[0].executor_us > 0


@pytest.mark.parametrize("change", CHANGES)
def test_something_else_is_refused(change: dict[str, object]) -> None:
    data = {**profile_to_json(Profile(Timeline(0, 0, ()), ())), **change}
    with pytest.raises(StudioError, match="recorded profile"):
        profile_from_json(data)
