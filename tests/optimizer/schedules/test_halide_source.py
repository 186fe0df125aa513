"""Schedules as Halide's autoschedulers write them, read as primitives."""

from __future__ import annotations

import pytest

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import (
    BoundExtent,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Fuse,
    GpuBlocks,
    GpuThreads,
    In,
    Parallel,
    Primitive,
    Reorder,
    ReorderStorage,
    Schedule,
    Split,
    StoreIn,
    Unroll,
    Vectorize,
)
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.halide_source.directives import MOST_CHARACTERS, NotImported
from optimizer.schedules.halide_source.importing import imported
from optimizer.schedules.halide_source.names import source_names
from optimizer.schedules.nest import nest_text
from optimizer.schedules.steps import checked_nest, steps_of


def algorithm_of(example: str) -> Algorithm:
    return EXAMPLES[example].make(**EXAMPLES[example].small)


def read(example: str, text: str) -> tuple[Primitive, ...]:
    algorithm = algorithm_of(example)
    return imported(text, algorithm, source_names(algorithm)).schedule.primitives


def refused(example: str, text: str) -> str:
    with pytest.raises(NotImported) as found:
        read(example, text)
    return found.value.message


MULLAPUDI = """
Var x_vi("x_vi"); Var x_vo("x_vo");
Func blur_x = pipeline.get_func(1);
{
    Var x = blur_x.args()[0];
    blur_x
        .compute_at(blur_y, x_o)
        .split(x, x_vo, x_vi, 8)
        .vectorize(x_vi);
}
{
    Var x = blur_y.args()[0];
    blur_y
        .compute_root()
        .split(x, x_o, x_i, 32)
        .reorder(x_i, y, x_o)
        .parallel(x_o);
}
"""


def test_readers_come_first_so_that_every_step_has_a_nest() -> None:
    found = read("blur", MULLAPUDI)
    assert found == (
        ComputeRoot("blur_y"),
        Split("blur_y", "x", "x_o", "x_i", 32, "auto"),
        Reorder("blur_y", ("x_o", "y", "x_i")),
        Parallel("blur_y", "x_o"),
        ComputeAt("blur_x", "blur_y", "x_o"),
        Split("blur_x", "x", "x_vo", "x_vi", 8, "auto"),
        Vectorize("blur_x", "x_vi"),
    )
    steps = steps_of(algorithm_of("blur"), Schedule(found))
    assert not any(step.refusal or step.pending for step in steps)


ADAMS = """
Func relu = pipeline.get_func(5);
Var i(relu.get_schedule().dims()[1].var);
RVar k_x(product.update(0).get_schedule().dims()[0].var);
relu
    .split(i, i, ii, 16, TailStrategy::ShiftInwards)
    .unroll(ii)
    .reorder({ii, j, i})
    .parallel(i);
product.update(0)
    .split(k_x, k_x, k_xi, 2, TailStrategy::GuardWithIf)
    .reorder({j, i, k_xi, k_x});
product
    .store_in(MemoryType::Stack)
    .compute_at(relu, j)
    .reorder_storage(j, i);
"""


def test_a_loop_keeps_its_name_where_a_split_reuses_it_and_a_sum_gets_its_own() -> None:
    assert read("matmul", ADAMS) == (
        Split("relu", "i", "i", "ii", 16, "shift_inwards"),
        Unroll("relu", "ii"),
        Reorder("relu", ("i", "j", "ii")),
        Parallel("relu", "i"),
        ComputeAt("product", "relu", "j"),
        Split("product", "k", "k", "k_xi", 2, "guard_with_if", nest=1),
        Reorder("product", ("k", "k_xi", "i", "j"), nest=1),
        StoreIn("product", "stack"),
        ReorderStorage("product", ("i", "j")),
    )


def test_a_sum_of_which_nothing_is_said_is_computed_where_it_is_read_as_halide_does() -> None:
    assert read("three-nests", "relu.compute_root();")[-1] == ComputeInline("product")


def test_a_factor_behind_parallel_is_a_split_before_it() -> None:
    text = "relu.compute_root().split(j,v1,v2,8,ShiftInwards).fuse(v1,i,v1).parallel(v1,4);"
    assert read("matmul", text) == (
        ComputeRoot("relu"),
        Split("relu", "j", "v1", "v2", 8, "shift_inwards"),
        Fuse("relu", "i", "v1", "v1"),
        Split("relu", "v1", "v1", "v1_part", 4, "auto"),
        Parallel("relu", "v1"),
        ComputeInline("product"),
    )


def test_tiles_are_two_splits_and_an_order() -> None:
    splits = (
        Split("blur_y", "x", "xo", "xi", 8, "guard_with_if"),
        Split("blur_y", "y", "yo", "yi", 4, "guard_with_if"),
        Reorder("blur_y", ("yo", "xo", "yi", "xi")),
    )
    text = "blur_y.tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);"
    assert read("blur", text) == splits
    assert read("blur", "blur_y.tile(x, y, xi, yi, 8, 4);")[1] == Split(
        "blur_y", "y", "y", "yi", 4, "auto"
    )


ANDERSON = """
auto pipeline = get_pipeline();
relu.split(j, j, ji, 8, TailStrategy::ShiftInwards).compute_root().reorder(ji, j, i)
    .gpu_blocks(j).gpu_blocks(i).gpu_threads(ji);
product.update(0).gpu_threads(j, DeviceAPI::CUDA);
product.compute_at(relu, j);
product.in(relu).store_in(MemoryType::Register).compute_at(relu, ji).bound_extent(j, 1).unroll(j);
"""


def test_blocks_and_threads_of_a_gpu_and_copies_for_a_reader_are_read() -> None:
    found = read("three-nests", ANDERSON.replace("product.in(relu)", "product.in(biased)"))
    assert [one for one in found if isinstance(one, GpuBlocks | GpuThreads)] == [
        GpuBlocks("relu", "j"),
        GpuBlocks("relu", "i"),
        GpuThreads("relu", "ji"),
        GpuThreads("product", "j", nest=1),
    ]
    at = found.index(In("product", "product_in"))
    assert found[at:][:5] == (
        In("product", "product_in"),
        ComputeAt("product_in", "relu", "ji"),
        StoreIn("product_in", "register"),
        BoundExtent("product_in", "a1", 1),
        Unroll("product_in", "a1"),
    )
    schedule = Schedule(found)
    assert schedule.needs_gpu
    nest = nest_text(checked_nest(algorithm_of("three-nests"), schedule).nodes)
    assert "GPU block i in 16" in nest
    assert "produce product_in [1×1, 4 B]" in nest


def test_a_copy_for_one_of_several_readers_is_read_by_that_one_alone() -> None:
    text = "power.compute_root(); power.in(softmax).compute_at(softmax, i).vectorize(j);"
    found = read("softmax", text)
    assert found[found.index(In("power", "power_in_softmax", "softmax")) :][:3] == (
        In("power", "power_in_softmax", "softmax"),
        ComputeAt("power_in_softmax", "softmax", "i"),
        Vectorize("power_in_softmax", "a1"),
    )
    program = checked_nest(algorithm_of("softmax"), Schedule(found)).regions.placed
    (softmax,), (_, total) = (program.program.by_name[one].stages for one in ("softmax", "total"))
    assert "power_in_softmax" in program.reading.of(softmax)
    assert "power" in program.reading.of(total)


def test_what_reads_an_input_is_a_copy_of_it() -> None:
    text = "bias_im.compute_root().split(_0,v1,v2,4,ShiftInwards).vectorize(v2);"
    assert read("matmul", text) == (
        ComputeInline("product"),
        In("bias", "bias_im"),
        ComputeRoot("bias_im"),
        Split("bias_im", "a0", "v1", "v2", 4, "shift_inwards"),
        Vectorize("bias_im", "v2"),
    )


def test_names_that_halide_has_numbered_are_found() -> None:
    algorithm = algorithm_of("blur")
    names = source_names(algorithm, ["image_im$1", "blur_x$3", "blur_y$2", "f0"])
    found = imported("blur_x_3.compute_at(blur_y_2, y); f0.compute_root();", algorithm, names)
    assert found.schedule.primitives == (ComputeAt("blur_x", "blur_y", "y"),)
    (sentence,) = found.left_out
    assert "f0 has loops of its own" in sentence


def test_a_copy_for_what_is_part_of_an_expression_is_left_out_with_it() -> None:
    algorithm = algorithm_of("softmax")
    names = source_names(algorithm, ["f1", "highest", "power", "total", "softmax"])
    text = "f1.compute_at(power, j); highest.in(f1).compute_at(f1, j).unroll(i);"
    found = imported(text, algorithm, names)
    assert not any(isinstance(one, In | Unroll) for one in found.schedule.primitives)
    assert found.left_out == (
        "f1 has loops of its own in the text, and is part of an expression here",
    )


def test_what_no_primitive_does_is_named() -> None:
    assert "blur_x.prefetch(image, y, 2), and there is no primitive that is prefetch" in refused(
        "blur", "blur_x.prefetch(image, y, 2);"
    )
    assert "there is no such Func" in refused("blur", "blurred.compute_root();")
    assert "has one update here" in refused("blur", "blur_y.update(1).vectorize(x);")
    assert "blur_y.split(x, xo, xi, eight) is not written as" in refused(
        "blur", "blur_y.split(x, xo, xi, eight);"
    )
    assert "there is no such Func" in refused("harris", "dx.in(xxx).compute_root();")


@pytest.mark.parametrize(
    "text",
    ["blur_y", "blur_y.compute_root(", "blur_y compute_root();", "blur_y..x();", "§", "();", "a=b;",
     "blur_y.tile(x, y);", "blur_y.split();", "blur_y.store_in(Cache);", "blur_y.bound(x, 1, 2);"],
)  # fmt: skip
def test_what_is_no_schedule_is_refused_in_a_sentence(text: str) -> None:
    assert refused("blur", text).endswith(".")


def test_a_text_that_never_ends_is_not_read() -> None:
    assert "too long" in refused("blur", " " * (MOST_CHARACTERS + 1))
