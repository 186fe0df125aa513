"""What isl calls legal, on nests where the answer is known."""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir
import pytest

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.scalar import INDEX, Element, cast
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeRoot,
    Parallel,
    Primitive,
    Reorder,
    ScheduleError,
    Split,
    StoreRoot,
    Vectorize,
)
from optimizer.polyhedral.bounds import NotFollowed, counted
from optimizer.polyhedral.legality import Violation, illegal
from optimizer.polyhedral.nest import point_nest
from optimizer.schedules.examples import EXAMPLES, Example
from optimizer.schedules.examples.example import read, tensor


def broken(example: str, *primitives: Primitive) -> list[Violation]:
    return illegal(EXAMPLES[example].algorithm, primitives)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda one: one.id)
def test_all_schedules_of_examples_are_legal(example: Example) -> None:
    for schedule in example.schedules:
        assert illegal(example.algorithm, schedule.schedule.primitives) == []


def test_interchange_of_two_loops_of_a_sum_reverses_a_dependence() -> None:
    (found,) = broken("conv-nchw", Reorder("conv", ("kx", "ky"), nest=1))
    assert (found.kind, found.distance) == ("order", (0, 1, -1))
    assert "reverses the dependence (0, 1, −1) of conv along (c, ky, kx)" in found.reason


def test_interchange_of_a_sum_with_its_axes_is_legal() -> None:
    assert broken("conv-nchw", Reorder("conv", ("c", "ky", "kx", "o", "y", "x"), nest=1)) == []


def test_interchange_of_a_sum_of_integers_is_legal() -> None:
    one = EXAMPLES["conv-nchw"].algorithm
    integers = replace(one.by_name["conv"], dtype=ir.DataType.INT32)
    funcs = tuple(integers if func.name == "conv" else func for func in one.funcs)
    made = replace(one, funcs=funcs)
    assert illegal(made, [Reorder("conv", ("kx", "ky"), nest=1)]) == []


def test_tiling_a_sum_is_legal_until_its_tiles_stand_inside_what_is_in_them() -> None:
    split = Split("product", "k", "ko", "ki", 8, nest=1)
    assert broken("matmul", split, Reorder("product", ("ko", "i", "j", "ki"), nest=1)) == []
    (found,) = broken("matmul", split, Reorder("product", ("ki", "ko"), nest=1))
    assert (found.kind, found.distance) == ("order", (1,))


def test_a_split_whose_outer_loop_has_one_round_can_be_turned_inside_out() -> None:
    split = Split("product", "k", "ko", "ki", 512, nest=1)
    assert broken("matmul", split, Reorder("product", ("ki", "ko"), nest=1)) == []


def test_fusion_leaves_a_reader_outside() -> None:
    (found,) = broken("harris", ComputeRoot("xx"), ComputeAt("dx", "xx", "y"))
    assert found.kind == "fusion"
    assert "corner reads dx outside of loop y of xx" in found.reason


@pytest.mark.parametrize("kind", [Parallel, Vectorize])
def test_rounds_of_a_sum_side_by_side_meet_in_its_elements(
    kind: type[Parallel] | type[Vectorize],
) -> None:
    (found,) = broken("matmul", kind("product", "k", nest=1))
    assert (found.kind, found.distance) == ("race", (1,))


def test_a_sliding_window_carries_a_dependence_from_row_to_row() -> None:
    window = StoreRoot("blur_x"), ComputeAt("blur_x", "blur_y", "y")
    assert broken("blur", *window) == []
    (found,) = broken("blur", *window, Parallel("blur_y", "y"))
    assert (found.kind, found.distance) == ("race", (1,))


def test_what_is_kept_for_no_other_round_may_be_computed_side_by_side() -> None:
    assert broken("blur", ComputeAt("blur_x", "blur_y", "y"), Parallel("blur_y", "y")) == []
    window = StoreRoot("blur_x"), ComputeAt("blur_x", "blur_y", "x")
    (found,) = broken("blur", *window, Parallel("blur_y", "y"))
    assert found.kind == "race"


def gathered(of_input: bool) -> Algorithm:
    data, ids = tensor("data", 8), replace(tensor("ids", 4), dtype=ir.DataType.INT64)
    i, a = LoopAxis("i", 4), LoopAxis("a", 8)
    twice = Func("twice", data.dtype, (a,), read(data, a.var))
    place = cast(Element("ids", (i.var,), ir.DataType.INT64), INDEX)
    source = read(data, place) if of_input else twice.at([place])
    taken = Func("taken", data.dtype, (i,), source)
    funcs = (taken,) if of_input else (twice, taken)
    return Algorithm((data, ids), funcs, ("taken",))


def test_an_input_may_be_read_anywhere() -> None:
    assert illegal(gathered(of_input=True), [Split("taken", "i", "io", "ii", 2)]) == []


def test_a_func_that_is_read_anywhere_is_refused_in_a_sentence() -> None:
    with pytest.raises(NotFollowed, match="taken reads twice at places that are known only when"):
        illegal(gathered(of_input=False), [ComputeRoot("twice")])


def test_isl_is_stopped_where_it_counts_too_long() -> None:
    example = EXAMPLES["conv-nchw"]
    with pytest.raises(NotFollowed, match="could not settle"), counted(1000):
        point_nest(example.algorithm, example.schedules[-1].schedule.primitives)
    assert broken("conv-nchw") == []


def test_a_loop_that_is_not_there_is_refused_with_its_number() -> None:
    with pytest.raises(ScheduleError, match=r"Primitive 1 .*no loop z"):
        broken("blur", ComputeRoot("blur_x"), Parallel("blur_y", "z"))
