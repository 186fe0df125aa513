"""Schedules that somebody made: kept by kernel, built under a name of their own, raced."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.errors import StudioError
from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.schedule import Bound, Parallel, Reorder, Schedule, Split, Vectorize
from optimizer.loops.scheduling import default_schedule
from optimizer.operators.generated import region_title, unscheduled
from profiling.kernels.candidates import Candidate
from profiling.kernels.generated.deciding import has_tried
from profiling.kernels.generated.decisions import KernelDecision, Shipped, finding, keep
from profiling.kernels.generated.implementations import IMPLEMENTATIONS, GeneratedCode
from profiling.kernels.generated.network import kernels_alone
from profiling.kernels.generated.own_schedules import (
    OwnSchedule,
    guarded,
    guarded_text,
    keep_own,
    kept_own,
    older_own,
    scheduled_body,
    take_back,
)
from profiling.kernels.generated.racing import race_kernel
from profiling.kernels.generated.regions import KernelRegion
from profiling.kernels.generated.won_schedules import won_schedules
from profiling.records import Records
from profiling.workers import WorkerPool
from tests.profiling.kernels.generated.decided import decision
from tests.profiling.kernels.generated.made import WEIGHTED, body_of, kernel_of
from tests.profiling.kernels.races import made_race

pytestmark = pytest.mark.long

needs_halide = pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
SPLIT = Schedule((Split("y", "d1", "o", "i", 4),))


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    with Records(f"sqlite:///{tmp_path}/records.sqlite") as found:
        yield found


def test_splits_that_go_past_an_end_are_guarded_when_a_schedule_is_kept(records: Records) -> None:
    past = Schedule((replace(SPLIT.primitives[0], tail="shift_inwards"), Vectorize("y", "i")))
    with pytest.raises(StudioError, match="may go past an end"):
        keep_own(OwnSchedule("k", "mine", past), records)
    safe, changed = guarded(past)
    assert safe == Schedule((SPLIT.primitives[0], Vectorize("y", "i")))
    assert changed == 1
    assert "One split ends with guard_with_if now" in guarded_text(changed)
    keep_own(OwnSchedule("k", "mine", safe), records)
    assert guarded(safe) == (safe, 0)
    assert guarded_text(0) == ""


def test_the_newest_schedule_of_each_name_is_a_candidate_of_its_kernel_alone(
    records: Records,
) -> None:
    later = Schedule((Split("y", "d1", "o", "i", 8),))
    for own in (
        OwnSchedule("k", "mine", SPLIT), OwnSchedule("k", "other", SPLIT),
        OwnSchedule("j", "mine", SPLIT), OwnSchedule("k", "mine", later),
    ):  # fmt: skip
        keep_own(own, records)
    assert {one.name: one.schedule for one in kept_own("k", records)} == {
        "mine": later, "other": SPLIT,
    }  # fmt: skip
    assert kept_own("nothing", records) == ()


@pytest.mark.parametrize(
    "unsafe",
    [Split("y", "d1", "o", "i", 4, "round_up"), Split("y", "d1", "o", "i", 4, "shift_inwards"),
     Bound("y", "d1", 8)],
)  # fmt: skip
def test_what_could_go_past_an_end_is_not_kept(unsafe: Split | Bound, records: Records) -> None:
    with pytest.raises(StudioError, match="Primitive 0"):
        keep_own(OwnSchedule("k", "mine", Schedule((unsafe,))), records)


@pytest.mark.parametrize("name", ["", "   ", "x" * 61])
def test_a_name_that_is_none_is_refused(name: str, records: Records) -> None:
    with pytest.raises(StudioError, match="1 to 60 characters"):
        keep_own(OwnSchedule("k", name, SPLIT), records)


def test_a_kernel_with_a_schedule_is_another_kernel_with_the_same_operators() -> None:
    body = body_of(WEIGHTED)
    found = scheduled_body(body, SPLIT)
    assert body.schedule is None
    assert found.schedule == SPLIT
    assert found.name != body.name
    assert unscheduled(found.name) == body.name
    assert region_title(found.name) == region_title(body.name)
    assert found.signature == body.signature
    assert [node.op_type for node in found.nodes] == [node.op_type for node in body.nodes]


def test_a_decision_of_before_there_was_a_candidate_does_not_count() -> None:
    kernel = kernel_of(body_of(WEIGHTED), n0=64)
    mine = OwnSchedule(kernel.name, "mine", SPLIT)
    own = replace(kernel, own=(mine,))
    assert own.workload(1).key == kernel.workload(1).key
    assert has_tried(decision(), kernel)
    assert not has_tried(decision(), own)
    made = decision()
    tried = (*made.raced.candidates, Candidate(mine.label, unavailable="it cannot be built"))
    later = replace(made, raced=replace(made.raced, candidates=tried))
    assert has_tried(later, own)
    changed = replace(mine, schedule=Schedule((Split("y", "d1", "o", "i", 8),)))
    assert not has_tried(later, replace(kernel, own=(changed,)))


MINE = OwnSchedule("Add_Softmax_0123456789abcdef", "mine", SPLIT, "a" * 64)


def with_own(own_ms: float, own: OwnSchedule = MINE) -> KernelDecision:
    """The runtime in 2 ms, the default schedule in 1.5, one's own in what is given."""
    made = decision(1.5)
    latencies = {"ONNX Runtime": 2.0, "Halide": 1.5, own.label: own_ms}
    changes = {"generated_kernels": "halide", "graph_optimization": "all"}
    told = (
        Candidate("ONNX Runtime"),
        Candidate("Halide", changes=changes),
        Candidate(own.label, changes=changes),
    )
    return replace(made, raced=replace(made.raced, candidates=told, race=made_race(latencies)))


def test_an_own_schedule_that_wins_is_shipped_as_long_as_it_is_kept() -> None:
    found = with_own(0.5)
    assert found.winner == MINE.label
    assert finding(found).startswith(f"{MINE.label}: ")
    assert found.shipped([MINE]) == Shipped(MINE.label, "halide", MINE)
    assert found.shipped() == Shipped("Halide", "halide")


def test_an_own_schedule_that_is_worse_loses_to_the_default_one() -> None:
    found = with_own(3.0)
    assert found.winner == "Halide"
    assert found.shipped([MINE]) == Shipped("Halide", "halide")


def test_code_in_an_own_order_alone_is_not_shipped_as_the_default_one() -> None:
    found = with_own(0.5)
    told = found.raced.candidates
    lost = replace(told[1], unavailable="its result is wrong")
    times = {"ONNX Runtime": 2.0, told[2].label: 0.5}
    raced = replace(found.raced, candidates=(told[0], lost, told[2]), race=made_race(times))
    assert replace(found, raced=raced).shipped() is None


def test_the_newest_race_of_a_kernel_says_which_own_schedule_is_written(records: Records) -> None:
    keep_own(MINE, records)
    assert won_schedules(records) == {}
    keep(with_own(0.5), records)
    assert won_schedules(records) == {MINE.kernel: MINE}
    keep(with_own(3.0), records)
    assert won_schedules(records) == {}


def test_a_schedule_beside_a_winner_that_is_not_shipped_is_found_all_the_same(
    records: Records,
) -> None:
    found = with_own(1.0)
    tvm = Candidate("TVM", changes={"generated_kernels": "tvm"})
    times = {"ONNX Runtime": 2.0, "Halide": 1.5, MINE.label: 1.0, "TVM": 0.5}
    raced = replace(found.raced, candidates=(*found.raced.candidates, tvm), race=made_race(times))
    keep_own(MINE, records)
    keep(replace(found, raced=raced), records)
    assert won_schedules(records) == {MINE.kernel: MINE}


def test_what_is_taken_back_is_neither_raced_nor_written(records: Records) -> None:
    keep_own(replace(MINE, schedule=Schedule()), records)
    keep_own(MINE, records)
    keep(with_own(0.5), records)
    assert take_back(MINE.kernel, "mine", records)
    assert (kept_own(MINE.kernel, records), won_schedules(records)) == ((), {})
    assert not take_back(MINE.kernel, "mine", records)


def test_another_schedule_of_the_winners_name_has_to_win_by_itself(records: Records) -> None:
    keep_own(MINE, records)
    keep(with_own(0.5), records)
    keep_own(replace(MINE, schedule=Schedule()), records)
    assert won_schedules(records) == {}


def test_a_schedule_of_a_region_that_a_model_does_not_have_any_more_is_told(
    records: Records,
) -> None:
    keep_own(MINE, records)
    assert older_own(MINE.source, [MINE.kernel], records) == ()
    assert older_own(MINE.source, ["Add_Softmax_fedcba9876543210"], records) == (MINE,)
    assert older_own("b" * 64, [], records) == ()


def test_a_network_is_tried_with_the_schedules_that_won_alone() -> None:
    region = KernelRegion(MINE.kernel, "fusion", 2, "Fusion: 2 nodes")
    (one,) = kernels_alone([region], {region.name: with_own(0.5)}, [MINE])
    assert (one.own, one.speedup) == (MINE, pytest.approx(4.0, rel=0.01))
    assert one.text.endswith("alone), schedule mine")
    (plain,) = kernels_alone([region], {region.name: with_own(0.5)})
    assert (plain.own, plain.speedup) == (None, pytest.approx(2 / 1.5, rel=0.01))


@pytest.mark.alone
@needs_halide
def test_a_race_tries_both_schedules_and_tells_the_better_from_the_worse(
    shared_pool: WorkerPool,
) -> None:
    kernel = kernel_of(body_of(WEIGHTED), n0=50_000)
    body = kernel.body
    loops = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
    func = loops.outputs[0]
    rows, columns = (axis.name for axis in loops.by_name[func].axes)
    worse = Schedule((Reorder(func, (columns, rows)),))
    better = Schedule(
        (Split(func, columns, "o", "lane", 16), Vectorize(func, "lane"), Parallel(func, rows))
    )
    own = tuple(
        OwnSchedule(kernel.name, name, one)
        for name, one in (("worse", worse), ("better", better), ("gone", SPLIT_OF_NOTHING))
    )
    offered = [IMPLEMENTATIONS[0], GeneratedCode("Halide", "halide")]
    found = race_kernel(replace(kernel, own=own), pool=shared_pool, seconds=0.3, offered=offered)
    times = {row.candidate.label: row.p50_ms for row in found.raced.rows()}
    slow, fast, gone = (times[one.label] for one in own)
    assert slow is not None
    assert fast is not None
    assert times["Halide"] is not None
    assert slow > fast  # with the other order, each element is on another line of the cache
    assert gone is None
    assert found.checked[own[0].label] > 5
    assert "there is no Func nowhere" in found.raced.row(own[2].label).verdict
    assert default_schedule(loops).primitives


SPLIT_OF_NOTHING = Schedule((Split("nowhere", "d1", "o", "i", 4),))
