"""What a page or a file gets of a schedule."""

from __future__ import annotations

import pytest

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis
from optimizer.loops.scalar import FreeSize, apply
from optimizer.loops.schedule import (
    ComputeAt,
    GpuBlocks,
    GpuThreads,
    Schedule,
    ScheduleError,
    Split,
    StoreRoot,
    Unroll,
    Vectorize,
)
from optimizer.schedules.document import SCHEDULE_VIEW, primitive_text, view_of
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.examples.example import FLOAT, read
from optimizer.schedules.excess import runnable_nest
from optimizer.schedules.nest import nest_of
from optimizer.schedules.sizes import at_sizes

BLUR = EXAMPLES["blur"]


def test_a_view_has_a_nest_and_meters_for_every_step_and_comes_back_from_its_file() -> None:
    schedule = BLUR.schedule("tiled and vectorized")
    view = view_of("blur", BLUR.algorithm, schedule)
    assert len(view.steps) == len(schedule.primitives) + 1
    assert view.steps[0].primitive == ""
    assert view.steps[-1].meters.lanes == 8 > view.steps[0].meters.lanes
    assert SCHEDULE_VIEW.loads(SCHEDULE_VIEW.dumps(view)) == view


def test_nothing_is_guessed_of_steps_on_a_gpu_and_the_file_says_so() -> None:
    on_gpu = Schedule((GpuBlocks("blur_y", "y"), GpuThreads("blur_y", "x")))
    view = view_of("blur", BLUR.algorithm, on_gpu)
    assert [one.predicted_us is None for one in view.steps] == [False, True, True]
    assert SCHEDULE_VIEW.loads(SCHEDULE_VIEW.dumps(view)) == view


def test_a_primitive_reads_as_in_halide() -> None:
    assert primitive_text(Split("y", "x", "xo", "xi", 8)) == "y.split(x, xo, xi, 8)"
    tail = Split("y", "x", "xo", "xi", 8, "round_up", nest=1)
    assert primitive_text(tail) == "y.update().split(x, xo, xi, 8, round_up)"
    assert primitive_text(ComputeAt("x", "y", "xo")) == "x.compute_at(y, xo)"


EXCESSIVE = {
    "written out": (Schedule((Unroll("blur_y", "y"), Unroll("blur_y", "x"))), 0, "written out"),
    "too wide": (Schedule((Vectorize("blur_y", "x"),)), 0, "3072 lanes"),
}


@pytest.mark.parametrize("case", EXCESSIVE)
def test_what_would_take_minutes_is_refused_at_the_primitive_that_brings_it(case: str) -> None:
    schedule, index, reason = EXCESSIVE[case]
    with pytest.raises(ScheduleError, match=reason) as caught:
        runnable_nest(BLUR.algorithm, schedule)
    assert caught.value.index == index
    assert view_of("", BLUR.algorithm, schedule).steps[-1].refusal


def test_memory_of_gigabytes_is_refused_where_it_comes_in() -> None:
    large = BLUR.make(height=40_000, width=40_000)
    kept = StoreRoot("blur_x"), ComputeAt("blur_x", "blur_y", "y")
    assert runnable_nest(large, Schedule(kept))
    vector = Split("blur_y", "y", "yo", "yi", 40_000)
    with pytest.raises(ScheduleError, match="it keeps") as caught:
        runnable_nest(large, Schedule((vector, ComputeAt("blur_x", "blur_y", "yo"))))
    assert caught.value.index == 1


def test_free_sizes_get_numbers_from_whoever_has_the_tensors() -> None:
    axis, data = LoopAxis("i", symbol("s")), InputTensor("x", FLOAT, (symbol("s"),))
    last = apply("sub", FreeSize("s"), axis.var)
    func = Func("y", FLOAT, (axis,), read(data, last))
    free = Algorithm((data,), (func,), ("y",), {"s": symbol("batch") * 2})
    found = at_sizes(free, {"batch": 6})
    assert found.funcs[0].shape == found.inputs[0].shape == (12,)
    assert nest_of(found, ()).nodes[1].extent == 12
    assert at_sizes(free, {}).funcs[0].shape == (symbol("s"),)
