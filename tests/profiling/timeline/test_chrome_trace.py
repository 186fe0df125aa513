from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.chrome_trace import chrome_trace
from profiling.timeline.events import Event, Memory, Run, Timeline, lanes_of
from profiling.timeline.profile import Profile
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model
from tests.profiling.timeline.measured import measured

PRODUCT = "g (float[256,256] x) => (float[256,256] y) {\n[a] b = MatMul(x, x)\n[c] y = Exp(b)\n}"


def spans(trace: Mapping[str, Any], pid: int) -> list[dict[str, Any]]:
    return [one for one in trace["traceEvents"] if one["pid"] == pid and one["ph"] == "X"]


def test_every_operator_of_every_run_is_a_span_inside_its_run(shared_pool: WorkerPool) -> None:
    made = {
        label: measured(
            Variant(label, model(PRODUCT), RunConfig(intra_threads=threads)),
            pool=shared_pool,
            runs=2,
        )
        for label, threads in (("one <thread>", 1), ("two", 2))
    }
    trace: Any = json.loads(json.dumps(chrome_trace(made), allow_nan=False))
    for pid, found in enumerate(made.values(), start=1):
        inside = [one for one in spans(trace, pid) if one["tid"]]
        runs = [one for one in spans(trace, pid) if one["name"].startswith("run ")]
        bare = [found.bare(run) for run in found.timeline.runs]
        assert [run["dur"] for run in runs] == [round(run.duration_us, 3) for run in bare]
        assert {one["name"] for one in inside} == {"a", "c"}
        assert len(inside) >= 4
        for one in inside:
            run = runs[0] if one["ts"] < runs[1]["ts"] else runs[1]
            assert run["ts"] <= one["ts"]
            assert one["ts"] + one["dur"] <= run["ts"] + run["dur"]
            assert one["args"]["nodes"] == [one["name"]]
    names = [one["args"]["name"] for one in trace["traceEvents"] if one["name"] == "process_name"]
    assert names == ["one <thread>", "two"]
    counters = [one for one in trace["traceEvents"] if one["ph"] == "C"]
    assert len(counters) == 2 * 2 * 2 * 3
    assert all(one["args"]["bytes"] >= 0 for one in counters)


def test_lanes_are_threads_of_the_pool_named_for_the_processor_they_stayed_on() -> None:
    memory = Memory(1, 2, 3, 4)
    a = Event("a", "Op", "", 0, 5, 7, 0, 0, 0, 0, memory, 0, ((0, 1), (99, 0)))
    b = Event("b", "Op", "", 6, 5, 7, 1, 0, 0, 0, memory, 0, ((0, 3),))
    lanes = lanes_of(Run(0, 12, (a, b)))
    assert [(lane.name, lane.events) for lane in lanes] == [
        ("thread 1", (0, 1)),
        ("thread 2, core 0", (0,)),
    ]
    alone = Event("a", "Op", "", 0, 5, 7, 0, 0, 0, 0, None)
    other = Event("b", "Op", "", 2, 5, 8, 0, 0, 0, 0, None)
    assert [lane.name for lane in lanes_of(Run(0, 9, (alone,)))] == ["thread"]
    assert [lane.events for lane in lanes_of(Run(0, 9, (alone, other)))] == [(0,), (1,)]


def test_a_variant_without_runs_is_an_empty_process() -> None:
    trace = chrome_trace({"none": Profile(Timeline(0, 0, ()), ())})
    assert {one["ph"] for one in trace["traceEvents"]} == {"M"}
