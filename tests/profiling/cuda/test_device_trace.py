from __future__ import annotations

import pytest

from profiling.cuda import device_trace
from profiling.cuda.device_trace import trace_of
from profiling.cuda.launches import (
    by_kernel,
    idle_ns,
    lanes,
    short_name,
    span_ns,
    stages_by_difference,
    stages_of,
)
from tests.profiling.cuda import samples


def test_kinds_have_cuptis_numbers() -> None:
    cupti = pytest.importorskip("cupti.cupti")
    for name in ("MEMCPY", "MEMSET", "KERNEL", "DRIVER", "RUNTIME", "CONCURRENT_KERNEL",
                 "OVERHEAD", "SYNCHRONIZATION", "MEMORY2", "GRAPH_TRACE"):  # fmt: skip
        assert int(getattr(cupti.ActivityKind, name)) == getattr(device_trace, name)


def test_cuptis_records_have_the_fields_that_are_read() -> None:
    cupti = pytest.importorskip("cupti.cupti")
    for sample, types in (
        (samples.kernel(0, 1), ("ActivityKernel9", "ActivityKernel13")),
        (samples.copy(0, 1, 2), ("ActivityMemcpy5", "ActivityMemcpy7")),
        (samples.fill(0, 1, 2), ("ActivityMemset4", "ActivityMemset5")),
        (samples.call(1, 0, 1), ("ActivityAPI",)),
        (samples.wait(0, 1), ("ActivitySynchronization", "ActivitySynchronization2")),
        (samples.whole_graph(0, 1, graph=1, correlation=1), ("ActivityGraphTrace2",)),
        (samples.allocation(1), ("ActivityMemory4",)),
        (samples.overhead(0, 1), ("ActivityOverhead3",)),
    ):
        for name in types:
            assert set(vars(sample)) <= set(dir(getattr(cupti, name))), name


def test_records_become_events_and_calls_in_order_with_plain_names() -> None:
    records = [
        samples.kernel(50, 90, correlation=2), samples.copy(10, 30, 4096), samples.fill(35, 40, 64),
        samples.call(1, 5, 8, correlation=2), samples.wait(91, 95), samples.overhead(0, 3),
        samples.allocation(1000), samples.allocation(400, released=True), samples.kernel(0, 0),
    ]  # fmt: skip
    trace = trace_of(records, samples.api_name)
    assert [event.kind for event in trace.events] == ["copy", "set", "kernel"]
    assert trace.events[0].name == "host to GPU"
    assert trace.events[0].size_bytes == 4096
    assert trace.events[2].name == "void at::native::reduce_kernel<512, 1, float>(float)"
    assert [(call.layer, call.name) for call in trace.calls] == [
        ("runtime", "cudaLaunchKernel"),
        ("wait", "wait for stream"),
    ]
    assert (trace.allocated_bytes, trace.overhead_ns) == (600, 3)


def test_a_run_holds_what_began_in_it() -> None:
    trace = samples.plain_trace(4)
    half = device_trace.RunRange("half", 0, 30_000)
    assert len(trace.within(half).events) == 2


def test_gaps_are_where_no_stream_works() -> None:
    records = [samples.kernel(0, 100), samples.kernel(20, 60), samples.kernel(130, 150)]
    trace = trace_of(records, samples.api_name)
    assert (idle_ns(trace.events), span_ns(trace.events)) == (30, 150)
    assert (idle_ns(()), span_ns(())) == (0, 0)


def test_kernels_are_added_up_by_name_and_named_briefly() -> None:
    found = by_kernel(samples.plain_trace(3).events)
    assert [(kernel.calls, kernel.time_ns) for kernel in found] == [(3, 30_000)]
    assert short_name(found[0].name) == "reduce_kernel"
    assert short_name("void (anonymous namespace)::f<a<b>, c>(int*)") == "f"
    assert short_name("sm90_xmma_gemm") == "sm90_xmma_gemm"


def test_captured_kernels_have_a_lane_of_their_own() -> None:
    assert list(lanes(samples.captured_trace(2).events)) == ["stream 7, graph 1"]
    assert list(lanes(samples.plain_trace(2).events)) == ["stream 7"]


def test_stages_are_read_from_the_runtimes_calls() -> None:
    found = {stage.name: stage.time_ms for stage in stages_of(samples.first_call_trace())}
    assert found == pytest.approx({"define": 2.0, "instantiate": 1.0, "execute": 0.5})
    assert [s.name for s in stages_of(samples.captured_trace())] == ["execute"]
    assert stages_of(samples.plain_trace()) == ()


def test_a_graph_traced_as_a_whole_ends_its_execution() -> None:
    records = [samples.call(5, 0, 100, correlation=3)]
    records.append(samples.whole_graph(150, 900, graph=1, correlation=3))
    stages = stages_of(trace_of(records, samples.api_name))
    assert stages[0].time_ms == pytest.approx(900 / 1e6)


def test_without_records_the_rest_of_the_first_call_is_an_upper_bound() -> None:
    define, execute = stages_by_difference(9.0, 1.0, 3.0)
    assert (define.time_ms, execute.time_ms, define.origin) == (5.0, 1.0, "difference")
    assert stages_by_difference(1.0, 1.0, 3.0)[0].time_ms == 0.0


def test_traces_and_sides_survive_json() -> None:
    sides = tuple(samples.side(captured=captured) for captured in (False, True))
    made = samples.Recorded(samples.first_call_trace(), sides)
    assert samples.RECORDED.loads(samples.RECORDED.dumps(made)) == made
