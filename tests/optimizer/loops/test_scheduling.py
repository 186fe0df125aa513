"""The default schedule: which loops kernels get."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir
import pytest

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis, Reduction
from optimizer.loops.scalar import Element, Scalar, apply, index
from optimizer.loops.schedule import (
    AlignStorage,
    ComputeAt,
    Fuse,
    In,
    Parallel,
    Primitive,
    Reorder,
    ReorderStorage,
    RFactor,
    Split,
    Unroll,
    Vectorize,
)
from optimizer.loops.scheduling import NoSchedule, default_schedule
from tests.profiling.codegen import algorithms

N, K = symbol("n"), symbol("k")


def primitives(algorithm: Algorithm) -> tuple[Primitive, ...]:
    return default_schedule(algorithm).primitives


def test_elements_alike_are_one_loop_in_chunks_and_vectors() -> None:
    made = primitives(algorithms.silu(64, 1376))
    assert made[:2] == (Fuse("y", "i0", "i1", "i0i1"), Split("y", "i0i1", "i0i1c", "i0i1i", 8192))
    assert Parallel("y", "i0i1c") in made
    assert made[-1] == Vectorize("y", "i0i1iv")


def test_rows_of_a_free_size_stay_loops_of_their_own() -> None:
    made = primitives(algorithms.silu(N, K))
    assert not any(isinstance(one, Fuse) for one in made)
    assert Parallel("y", "i0") in made


def test_a_reduction_along_rows_is_computed_in_the_row_in_lanes() -> None:
    made = primitives(algorithms.softmax(12, N, 128))
    assert ComputeAt("top", "y", "i1") in made
    assert ComputeAt("power", "y", "i1") in made  # exp is dear, and read twice
    assert RFactor("total", "r0v", "total_lanes", "lane") in made
    assert not any(one.func == "masked" for one in made)  # cheap: computed where it is read


def test_what_a_short_row_needs_is_kept_and_its_vectors_may_go_past_its_end() -> None:
    made = primitives(algorithms.softmax(12, N, 49))
    assert ComputeAt("masked", "y", "i1") in made  # cheap, but kept: the row ends inside a vector
    assert AlignStorage("masked", "i2", 64) in made
    tails = {(one.func, one.nest): one.tail for one in made if isinstance(one, Split)}
    assert tails["masked", 0] == "guard_with_if"  # it reads tensors
    assert tails["power", 0] == tails["top", 1] == tails["total", 1] == "round_up"
    assert tails["y", 0] == "predicate_stores"
    assert Unroll("total_lanes", "r0o", nest=1) in made


def test_a_row_is_written_out_where_that_is_short() -> None:
    def written_out(width: int) -> set[str]:
        made = primitives(algorithms.softmax(12, N, width))
        return {one.func for one in made if isinstance(one, Unroll)}

    assert written_out(256) == {"y", "power", "top_lanes", "total_lanes"}
    assert not {"y", "power"} & written_out(272)


def test_what_reads_along_an_outer_axis_is_computed_along_it_and_turned() -> None:
    made = primitives(algorithms.enlarged(64, 8, 8, 2, turned=True))
    (kept,) = (one for one in made if isinstance(one, ComputeAt))
    (stored,) = (one for one in made if isinstance(one, ReorderStorage))
    assert stored.func == kept.func
    assert stored.loops[-1] == "i1"  # channels, which are neighbours in what is read
    assert Vectorize(kept.func, "i1") in made
    assert Vectorize(kept.reader, "i3v") in made  # pixels, which are neighbours in what is written


def test_what_reads_along_its_own_rows_is_not_turned() -> None:
    made = primitives(algorithms.enlarged(64, 8, 8, 2, turned=False))
    assert not any(isinstance(one, ReorderStorage) for one in made)


def test_what_is_read_from_other_planes_as_well_is_kept_outside_the_sums_that_read_it() -> None:
    made = primitives(algorithms.mirrored(N, 3, 17))
    assert made[0] == Reorder("y", ("i1", "i0", "i2"))
    places = {one.func: one.loop for one in made if isinstance(one, ComputeAt)}
    assert (places["root"], places["total"]) == ("i1", "i0")


def test_what_reads_tensors_is_guarded_at_the_end_of_a_row() -> None:
    made = primitives(algorithms.rms_norm(N, 49))
    tails = {one.func: one.tail for one in made if isinstance(one, Split)}
    assert set(tails.values()) == {"guard_with_if"}


def test_a_sum_runs_along_its_rows_where_it_reads_a_number_of_the_row_as_well() -> None:
    made = primitives(algorithms.layer_norm(N, 96, residual_too=False))
    split = {one.func for one in made if isinstance(one, RFactor)}
    assert len(split) == 2  # the mean's sum and the variance's, which reads the mean


def test_a_reduction_along_channels_is_computed_for_a_tile_of_columns() -> None:
    made = primitives(algorithms.channel_norm(1, 96, 3136))
    assert ComputeAt("mean_sum", "y", "i2t") in made
    assert not any(isinstance(one, RFactor) for one in made)


def test_a_short_row_whose_vectors_differ_is_written_out() -> None:
    made = primitives(algorithms.rotary(8, N, 64))
    assert Unroll("y", "i2o") in made


def test_what_lies_across_its_input_is_turned_in_squares() -> None:
    made = primitives(algorithms.transposed(2, 56, 96))
    assert In("x", "x_square") in made
    assert {one.factor for one in made if isinstance(one, Split)} == {8}
    assert any(isinstance(one, ReorderStorage) for one in made)


def test_squares_begin_anywhere_in_what_lies_across() -> None:
    for algorithm in (algorithms.keys(64, 12, 64), algorithms.images(128, 32, 32)):
        made = primitives(algorithm)
        assert In("x", "x_square") in made
        assert {one.tail for one in made if isinstance(one, Split)} == {"shift_inwards"}


def test_what_is_chosen_by_its_place_is_not_turned_in_squares() -> None:
    m = algorithms.Maker()
    x = m.input("x", (64, 32))

    def body(at: Sequence[Scalar]) -> Scalar:
        chosen = apply("lt", at[1], index(32))
        return apply("select", chosen, m.at(x, [at[1], at[0]]), algorithms.number(0))

    made = primitives(m.algorithm(m.func("y", (32, 64), body)))
    assert not any(isinstance(one, In) for one in made)


def test_a_norm_of_pixels_runs_along_rows_of_a_copy_that_is_turned_first() -> None:
    for merged in (False, True):
        made = primitives(algorithms.pixel_norm(96, 28, 28, merged=merged))
        across = "i0" if merged else "i1"
        assert ComputeAt("x_rows", "y", f"{across}t") in made
        assert Split("y", across, f"{across}t", f"{across}r", 28, "shift_inwards") in made
        assert len([one for one in made if isinstance(one, RFactor)]) == 2


def test_long_rows_of_pixels_are_turned_as_far_as_the_first_cache_holds_them() -> None:
    made = primitives(algorithms.pixel_norm(96, 4, 500))
    assert Split("y", "i1", "i1t", "i1r", 16, "shift_inwards") in made


def test_pixels_that_go_on_in_the_next_row_are_turned_a_row_at_a_time() -> None:
    made = primitives(algorithms.pixel_gelu(64, 16, 16))
    assert ComputeAt("x_square", "x_rows", "a2o") in made


def test_squares_need_sides_that_are_known_to_be_long_enough() -> None:
    for shape in ((2, N, 96), (2, 56, 7)):
        assert not any(isinstance(one, In) for one in primitives(algorithms.transposed(*shape)))


def test_what_would_compile_for_minutes_is_refused() -> None:
    axis = LoopAxis("i", N)
    x = InputTensor("x", ir.DataType.FLOAT, (N,))
    body: Scalar = Element("x", (axis.var,), x.dtype)
    funcs: list[Func] = []
    for number in range(16):
        body = apply("add", apply("sqrt", body), apply("exp", body))
        body = apply("mul", body, body)
        funcs.append(Func(f"f{number}", x.dtype, (axis,), body))
        body = apply(
            "add", funcs[-1].at([apply("sub", axis.var, axis.var)]), funcs[-1].at([axis.var])
        )
    with pytest.raises(NoSchedule, match=r"one element takes \d+ instructions in one loop"):
        default_schedule(Algorithm((x,), tuple(funcs), (funcs[-1].name,)))


def test_outputs_of_different_shapes_are_refused() -> None:
    n, r = LoopAxis("n", N), LoopAxis("r", K)
    x = InputTensor("x", ir.DataType.FLOAT, (N, K))
    total = Func(
        "total", x.dtype, (n,), Element("x", (n.var, r.var), x.dtype), Reduction("sum", (r,))
    )
    copy = Func("copy", x.dtype, (n, r), Element("x", (n.var, r.var), x.dtype))
    with pytest.raises(NoSchedule, match="its outputs have 2 shapes"):
        default_schedule(Algorithm((x,), (total, copy), ("total", "copy")))
