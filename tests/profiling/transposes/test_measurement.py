"""Transposes timed in a worker beside a copy, and what is made of the times."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from optimizer.errors import Cancelled
from optimizer.layout.transposes import MovedTensor
from profiling.transposes.measurement import TransposeTimes, compared, measure_transposes
from profiling.transposes.model import models_of
from profiling.workers import WorkerPool

HEADS = MovedTensor((1, 16, 12, 8), (0, 2, 1, 3), "FLOAT16")


def test_what_the_model_takes_without_a_transpose_is_taken_off() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, (4, 100))
    found = compared(HEADS, np.array([[5.0], [25.0], [15.0], [8.0]]) + noise)
    assert found.written_us == pytest.approx(20, abs=0.1)
    assert found.reduced_us == pytest.approx(10, abs=0.1)
    assert found.gain == pytest.approx(2, abs=0.05)
    assert found.interval[0] < 2 < found.interval[1]
    assert found.share == pytest.approx(0.8, abs=0.02)
    assert found.rate_gbps(2.0) == pytest.approx(2 * 1536 * 2 / 2e3)  # read and written


def test_the_reduced_model_is_what_the_pass_writes() -> None:
    empty, written, reduced = (onnx.load_from_string(one).graph for one in models_of(HEADS))
    assert [node.op_type for node in empty.node] == ["Identity", "Slice"]
    assert [node.op_type for node in written.node] == ["Identity", "Transpose", "Slice"]
    operators = [node.op_type for node in reduced.node]
    assert operators == ["Identity", "Reshape", "Transpose", "Reshape", "Slice"]
    assert list(reduced.node[2].attribute[0].ints) == list(HEADS.reduced().perm) == [1, 0, 2]


def test_times_are_told_one_after_the_other_and_a_refusal_with_its_reason(
    shared_pool: WorkerPool,
) -> None:
    seen: list[tuple[TransposeTimes, ...]] = []
    text = MovedTensor((4, 4), (1, 0), "FLOAT8E8M0")  # the runtime knows no such input
    found = measure_transposes([text, HEADS], pool=shared_pool, seconds=0.01, observe=seen.append)
    assert [len(one) for one in seen] == [1, 2]
    assert found == seen[-1]
    assert found[0].error
    assert not found[1].error
    assert found[1].written_us > 0
    assert found[1].copy_us > 0


def test_measuring_ends_when_it_is_cancelled(shared_pool: WorkerPool) -> None:
    with pytest.raises(Cancelled):
        measure_transposes([HEADS], pool=shared_pool, seconds=60, cancelled=lambda: True)
