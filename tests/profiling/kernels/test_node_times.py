from __future__ import annotations

import json
from typing import Any

import pytest

from optimizer.errors import RunError
from profiling.kernels.node_times import read_times


def record(category: str, name: str, start: int, duration: int, **about: Any) -> dict[str, Any]:
    return {"cat": category, "pid": 1, "tid": 1, "dur": duration, "ts": start, "ph": "X",
            "name": name, "args": about}  # fmt: skip


def run(start: int, *inside: dict[str, Any]) -> list[dict[str, Any]]:
    return [*inside, record("Session", "model_run", start, 90)]


# As the runtime writes it with CUDA: kernels follow the node that launched them.
ON_GPU = [
    *run(
        0,
        record("Node", "conv_kernel_time", 10, 900, op_name="Conv"),
        record("Kernel", "cudnn::search", 11, 5000, op_name="Conv", stream="7", grid_x="1"),
    ),
    *run(
        100,
        record("Node", "conv_kernel_time", 110, 7, op_name="Conv"),
        record("Kernel", "nchwToNhwc", 111, 20, op_name="Conv", stream="7", grid_x="1"),
        record("Kernel", "xmma_fprop", 130, 300, op_name="Conv", stream="7", grid_x="1"),
        record("Node", "relu_kernel_time", 120, 6, op_name="Relu"),
        record("Kernel", "relu", 431, 40, op_name="Relu", stream="7", grid_x="1"),
        record("Node", "shape_kernel_time", 130, 3, op_name="Shape"),
    ),
]


def test_on_a_gpu_a_node_takes_as_long_as_its_kernels_and_not_as_their_launch() -> None:
    found = read_times(json.dumps(ON_GPU))
    assert found.times_us == {"conv": 320.0, "relu": 40.0, "shape": 0.0}


def test_on_a_cpu_a_node_takes_as_long_as_its_record_says_on_average() -> None:
    records = [
        *run(0, record("Node", "a_kernel_time", 1, 50)),
        *run(100, record("Node", "a_kernel_time", 101, 4), record("Node", "b_kernel_time", 110, 1)),
        *run(200, record("Node", "a_kernel_time", 201, 5), record("Node", "b_kernel_time", 210, 0)),
    ]
    assert read_times(json.dumps(records)).times_us == {"a": 4.5, "b": 0.5}


def test_a_hiccup_of_the_machine_does_not_count() -> None:
    records = run(0)
    for number, duration in enumerate((4, 5000, 5, 4, 5, 4, 5, 4)):
        start = 100 * (number + 1)
        records += run(start, record("Node", "a_kernel_time", start + 1, duration))
    assert 4 <= read_times(json.dumps(records)).times_us["a"] <= 5


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1]", '[{"ph": "X"}]'])
def test_what_is_no_profile_is_refused(text: str) -> None:
    with pytest.raises(RunError, match="not known here"):
        read_times(text)
