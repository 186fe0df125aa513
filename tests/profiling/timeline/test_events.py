from __future__ import annotations

import json
from dataclasses import replace

import pytest

from optimizer.errors import RunError
from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.events import Event, parse_profile
from profiling.timeline.memory import memory
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model
from tests.profiling.timeline.measured import measured

CHAIN = """
g (float[64,64] x) => (float[64,64] y) {
    [up] a = Exp(x)
    [down] b = Neg(a)
    [product] c = MatMul(a, b)
    [last] y = Neg(c)
}
"""


def span(name: str, start: int, duration: int, **about: object) -> dict[str, object]:
    category = "Node" if name.endswith("_kernel_time") else "Session"
    return {
        "cat": category, "name": name, "ts": start, "dur": duration, "ph": "X", "tid": 1,
        "args": about,
    }  # fmt: skip


def two_runs() -> str:
    return json.dumps(
        [
            span("model_loading_uri", 0, 5),
            span("session_initialization", 5, 20),
            span("model_run", 100, 50),
            span("a_kernel_time", 105, 10, op_name="Conv", output_size="100"),
            span("b_kernel_time", 115, 20, op_name="Relu", output_size="40"),
            span("c_kernel_time", 140, 5, op_name="Conv", output_size="8"),
            span("model_run", 200, 20),
            span("a_kernel_time", 201, 6, op_name="Conv", output_size="100"),
            span("b_kernel_time", 208, 2, op_name="Relu", output_size="40"),
            span("c_kernel_time", 211, 2, op_name="Conv", output_size="8"),
        ]
    )


def test_phases_and_runs_are_told_apart() -> None:
    timeline = parse_profile(two_runs())
    assert (timeline.load_us, timeline.create_us) == (5, 20)
    assert [run.duration_us for run in timeline.runs] == [50, 20]
    assert [[event.node for event in run.events] for run in timeline.runs] == [["a", "b", "c"]] * 2


def test_without_the_allocator_memory_comes_from_output_sizes_and_last_readers() -> None:
    run = parse_profile(two_runs()).runs[0]
    curve = memory(run, consumers={"a": ["b"], "b": ["c"]})
    assert curve.source == "output sizes"
    assert curve.live_bytes == (100, 140, 48)
    assert curve.peak_bytes == 140
    assert memory(run).live_bytes == (100, 140, 148)


def test_with_the_allocator_memory_is_what_it_reports_less_what_was_there_before() -> None:
    def kernel(name: str, start: int, requested: int, change: int) -> dict[str, object]:
        return span(
            f"{name}_kernel_time", start, 5, op_name="Op", mem_arena_held="4096",
            mem_bytes_in_use="2048", mem_bytes_requested_in_use=str(requested),
            mem_requested_in_use_delta=str(change),
        )  # fmt: skip

    text = json.dumps(
        [span("model_run", 0, 30), kernel("a", 1, 1300, 300), kernel("b", 9, 1100, 0)]
    )
    curve = memory(parse_profile(text).runs[0])
    assert (curve.source, curve.live_bytes) == ("runtime", (300, 100))
    assert curve.held_bytes == (4096, 4096)


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}', '[{"ph": "X"}]'])
def test_something_else_than_a_profile_is_refused(text: str) -> None:
    with pytest.raises(RunError, match="profile"):
        parse_profile(text)


def test_a_real_profile_has_every_node_of_every_run_and_real_memory(
    shared_pool: WorkerPool,
) -> None:
    found = measured(Variant("chain", model(CHAIN)), pool=shared_pool, runs=3)
    assert len(found.timeline.runs) == 3
    for run in found.timeline.runs:
        assert [event.node for event in run.events] == ["up", "down", "product", "last"]
        assert [event.op_type for event in run.events] == ["Exp", "Neg", "MatMul", "Neg"]
        assert all(event.output_bytes == 64 * 64 * 4 for event in run.events)
        assert all(event.provider == "CPUExecutionProvider" for event in run.events)
    assert found.memory[0].source == "runtime"
    assert found.memory[0].peak_bytes >= 2 * 64 * 64 * 4


def test_memory_from_output_sizes_is_near_the_allocator_on_a_real_run(
    shared_pool: WorkerPool,
) -> None:
    config = RunConfig(memory_pattern=False, memory_reuse=False)
    found = measured(Variant("chain", model(CHAIN), config), pool=shared_pool, runs=1)
    run = found.timeline.runs[0]
    bare = type(run)(
        run.start_us,
        run.duration_us,
        tuple(_without_memory(event) for event in run.events),
    )
    readers = {"up": ["down", "product"], "down": ["product"], "product": ["last"]}
    derived = memory(bare, consumers=readers)
    assert derived.source == "output sizes"
    assert derived.peak_bytes == 3 * 64 * 64 * 4
    assert derived.peak_bytes <= found.memory[0].peak_bytes + 64 * 64 * 4


def _without_memory(event: Event) -> Event:
    return replace(event, memory=None)
