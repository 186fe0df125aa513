"""Schedules that isl proposes."""

from __future__ import annotations

import pytest

from optimizer.loops.schedule import ComputeAt, ComputeInline, ComputeRoot
from optimizer.polyhedral.bands import bands_of
from optimizer.polyhedral.legality import illegal
from optimizer.polyhedral.proposal import proposed
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.excess import runnable_nest


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda one: one.id)
def test_proposals_are_legal_and_can_be_run(example: Example) -> None:
    for sizes in (example.sizes, example.small):
        algorithm = example.make(**sizes)
        for keep_parallel in (False, True):
            found = proposed(algorithm, keep_parallel=keep_parallel)
            runnable_nest(algorithm, found)
            assert illegal(algorithm, found.primitives) == []


def test_isl_shifts_the_second_stage_of_a_blur_by_the_rows_that_it_waits_for() -> None:
    (band,) = bands_of(EXAMPLES["blur"].algorithm).bands
    axes = {member.axes["blur_y"]: member.coincident for member in band.members}
    assert axes == {("x", 0): True, ("y", 2): False}
    assert band.permutable


def test_isl_keeps_both_stages_of_a_blur_apart_where_all_loops_are_to_stay_parallel() -> None:
    found = bands_of(EXAMPLES["blur"].algorithm, keep_parallel=True).bands
    assert [band.stages for band in found] == [("blur_x",), ("blur_y",)]
    kept = proposed(EXAMPLES["blur"].algorithm, keep_parallel=True).primitives
    assert ComputeRoot("blur_x") in kept


def test_a_blur_is_computed_in_tiles_and_a_bias_where_it_is_read() -> None:
    assert ComputeAt("blur_x", "blur_y", "xt") in proposed(EXAMPLES["blur"].algorithm).primitives
    matmul = proposed(EXAMPLES["matmul"].algorithm).primitives
    assert ComputeInline("biased") in matmul
    assert ComputeAt("product", "relu", "jt") in matmul
