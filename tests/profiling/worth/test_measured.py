from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import Cancelled, RunError
from profiling.workers import WorkerPool
from profiling.worth.measured import Measured, MeasuringBudget, measured_waterfall
from tests.profiling.worth.planted import optimized, wasteful, written

QUICK = MeasuringBudget(seconds=6, points=12, side_by_side=6)


@pytest.mark.thorough
@pytest.mark.alone
def test_bisection_finds_the_one_step_that_is_worth_something_and_bars_add_up(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    trace, cursor = optimized(wasteful())
    planted = next(r.step for r in trace.rewrites if cursor.state.nodes[r.root].op_type == "MatMul")
    assert trace.steps == 9
    assert 2 < planted < 9
    seen: list[Measured] = []
    boundaries = (0, 1, 9)  # Identity, then the same pass eight times
    found = measured_waterfall(
        boundaries,
        written(cursor, tmp_path),
        pool=shared_pool,
        budget=QUICK,
        observe=seen.append,
    )
    total = sum(segment.change.log for segment in found.segments)
    assert total == pytest.approx(found.total.log, abs=1e-9)
    strongest = max(found.segments, key=lambda segment: segment.change.log)
    assert list(strongest.steps) == [planted]
    assert strongest.change.clear
    assert found.total.speedup > 1.3
    assert found.ended
    assert {len(partial.heats) for partial in seen} == set(range(1, len(found.heats) + 1))
    assert all(partial.total.rounds > 0 for partial in seen)
    assert found.source_ms > 0


@pytest.mark.thorough
def test_a_cut_point_that_computes_something_else_leaves_a_longer_segment(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    _, cursor = optimized(wasteful())
    model_of = written(cursor, tmp_path)
    other = tmp_path / "other.onnx"
    other.write_bytes(cursor.materialize(4).replace(b"Floor", b"Round"))
    found = measured_waterfall(
        (0, 4, 9),
        lambda step: other if step == 4 else model_of(step),
        pool=shared_pool,
        budget=MeasuringBudget(seconds=1.2, points=3, side_by_side=3),
    )
    assert [segment.span for segment in found.segments] == [(0, 9)]
    assert "Step 4 was left out: wrong result" in found.remarks[0]


@pytest.mark.thorough
def test_without_an_optimized_model_that_counts_there_is_no_waterfall(
    shared_pool: WorkerPool, tmp_path: Path
) -> None:
    _, cursor = optimized(wasteful())
    model_of = written(cursor, tmp_path)
    other = tmp_path / "other.onnx"
    other.write_bytes(cursor.materialize(9).replace(b"Floor", b"Round"))
    with pytest.raises(RunError, match="No waterfall: step 9 has no times that count"):
        measured_waterfall(
            (0, 9),
            lambda step: other if step == 9 else model_of(step),
            pool=shared_pool,
            budget=MeasuringBudget(seconds=1),
        )


def test_a_waterfall_can_be_cancelled(shared_pool: WorkerPool, tmp_path: Path) -> None:
    _, cursor = optimized(wasteful())
    with pytest.raises(Cancelled):
        measured_waterfall(
            (0, 9), written(cursor, tmp_path), pool=shared_pool, cancelled=lambda: True
        )
