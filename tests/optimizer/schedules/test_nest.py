"""Nests as trees, step by step, and what is refused."""

from __future__ import annotations

import pytest

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis
from optimizer.loops.schedule import (
    Atomic,
    Bound,
    ComputeAt,
    ComputeRoot,
    Fuse,
    In,
    Parallel,
    Primitive,
    Reorder,
    RFactor,
    Schedule,
    ScheduleError,
    Split,
    StoreAt,
    StoreRoot,
    Unroll,
    Vectorize,
)
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.examples.example import FLOAT, read
from optimizer.schedules.nest import nest_of, nest_text
from optimizer.schedules.steps import checked_nest, steps_of

BLUR = EXAMPLES["blur"].make(height=64, width=48)
MATMUL = EXAMPLES["matmul"].make(rows=32, columns=32, depth=16)
TILES = (Split("blur_y", "y", "yo", "yi", 8), Split("blur_y", "x", "xo", "xi", 16))


def text(*primitives: Primitive, algorithm: Algorithm = BLUR) -> str:
    return nest_text(nest_of(algorithm, primitives).nodes)


def test_a_stage_computed_in_a_tile_has_the_rows_that_the_tile_reads() -> None:
    reorder = Reorder("blur_y", ("yo", "xo", "yi", "xi"))
    found = text(*TILES, reorder, ComputeAt("blur_x", "blur_y", "xo"))
    assert found == (
        "produce blur_y [64×48, 12 KiB]\n"
        "  for yo in 8\n"
        "    for xo in 3\n"
        "      produce blur_x [10×16, 640 B]\n"
        "        for y in 10\n"
        "          for x in 16\n"
        "            blur_x(...) = ...\n"
        "      for yi in 8\n"
        "        for xi in 16\n"
        "          blur_y(...) = ..."
    )


def test_a_window_holds_three_rows_and_computes_one_a_round() -> None:
    found = text(StoreRoot("blur_x"), ComputeAt("blur_x", "blur_y", "y"))
    assert found.startswith("store blur_x [3×48, 576 B]\nproduce blur_y")
    assert "      for y in 1 (at most 3)\n" in found


def test_the_last_tile_is_as_small_as_what_is_left() -> None:
    nest = nest_of(
        BLUR, (Split("blur_y", "x", "xo", "xi", 20), ComputeAt("blur_x", "blur_y", "xo"))
    )
    by_name = {(node.func, node.loop): node for node in nest.nodes if node.kind == "loop"}
    assert by_name["blur_y", "xi"].tail == "guard_with_if"
    stage = next(one for one in nest.regions.placed.stages() if one.stage.func == "blur_x")
    assert nest.regions.executions(stage) == 64 * 3 * (20 + 20 + 8)


def test_a_copy_of_an_input_holds_what_a_round_reads_of_it() -> None:
    found = text(In("a", "row"), ComputeAt("row", "product", "i"), algorithm=MATMUL)
    assert "    produce row [1×16, 64 B]\n" in found


def test_a_copy_for_one_reader_is_of_the_copy_for_all() -> None:
    found = text(
        In("dx", "mine", "xx"), In("dx", "copy"), ComputeRoot("dx"), ComputeRoot("copy"),
        ComputeRoot("mine"), algorithm=EXAMPLES["harris"].make(height=8, width=8),
    )  # fmt: skip
    order = [found.index(f"produce {name} ") for name in ("dx", "copy", "mine")]
    assert order == sorted(order)


def test_sums_side_by_side_are_combined_by_halves() -> None:
    found = text(
        Split("product", "k", "ko", "ki", 4, nest=1),
        RFactor("product", "ki", "part", "lane"),
        ComputeAt("part", "product", "j"),
        algorithm=MATMUL,
    )
    order = [found.index(f"produce {name} ") for name in ("part", "part_2", "part_1")]
    assert order == sorted(order)
    assert "for ko in 4" in found


REFUSED: dict[str, tuple[tuple[Primitive, ...], int, str]] = {
    "a loop that never was": ((Vectorize("blur_y", "z"),), 0, "blur_y has no loop z"),
    "a copy for nobody": ((In("blur_x", "copy", "image"),), 0, "image does not read blur_x"),
    "a loop that is gone": ((*TILES, Parallel("blur_y", "y")), 2, "loop y of blur_y is gone"),
    "a Func that is none": ((ComputeRoot("blur"),), 0, "there is no Func blur"),
    "a nest that is none": ((Vectorize("blur_y", "x", nest=1),), 0, "no nest 1"),
    "a split by zero": ((Split("blur_y", "y", "o", "i", 0),), 0, "factors are 1 or more"),
    "a name twice": ((Split("blur_y", "y", "x", "i", 2),), 0, "has a loop x already"),
    "one name for two": ((Split("blur_y", "y", "o", "o", 2),), 0, "two names"),
    "a loop twice": ((Reorder("blur_y", ("x", "x")),), 0, "named twice"),
    "fused with itself": ((Fuse("blur_y", "x", "x", "f"),), 0, "itself"),
    "a race": ((Parallel("product", "k", nest=1),), 0, "they would race"),
    "sums in another order": (
        (Split("product", "k", "o", "v", 4, nest=1), Reorder("product", ("v", "o"), nest=1)),
        1,
        "another order",
    ),
    "an undivided float": ((Atomic("product"),), 0, "combines floats"),
    "elements twice": (
        (Split("product", "i", "o", "i2", 4, "shift_inwards", 1),), 0, "combine elements",
    ),
    "past what is combined": (
        (Split("product", "k", "o", "i2", 4, "round_up", 1),), 0, "only an `if`",
    ),
    "around an output": ((ComputeAt("blur_y", "blur_x", "y"),), 0, "is an output"),
    "outside of a reader": (
        (ComputeAt("blur_x", "blur_y", "y"), StoreAt("blur_x", "blur_y", "x")), 1, "inside the",
    ),
    "memory without a place": ((StoreRoot("blur_x"),), 0, "needs a place"),
    "a window over threads": (
        (Parallel("blur_y", "y"), StoreRoot("blur_x"), ComputeAt("blur_x", "blur_y", "y")),
        1,
        "needs a place",
    ),
    "a vector of no fixed length": (
        (Split("blur_y", "x", "xo", "xi", 20), ComputeAt("blur_x", "blur_y", "xo"),
         Vectorize("blur_x", "x")), 2, "runs 8 to 20 times",
    ),
    "past the end of an output": (
        (Split("blur_y", "x", "xo", "xi", 20, "round_up"),), 0, "go past its 48 places",
    ),
    "a window that steps back": (
        (StoreRoot("blur_x"), ComputeAt("blur_x", "blur_y", "y"),
         Split("blur_x", "y", "o", "i", 4, "shift_inwards")), 2, "than a round of its window adds",
    ),
    "a part that is shifted to before its loop": (
        (Split("blur_y", "x", "o", "i", 4), Split("blur_y", "i", "p", "q", 8, "shift_inwards")), 1,
        "4 rounds, and 8 of them shifted inwards go past its start",
    ),
    "a loop that is rounded up past an input": (
        (ComputeRoot("blur_x"), Split("blur_x", "x", "o", "i", 5, "round_up")), 1,
        "and so past the",
    ),
    "a window that moves by two parts of a loop": (
        (Split("blur_y", "y", "o", "i", 4), ComputeAt("blur_x", "blur_y", "i"),
         StoreRoot("blur_x")), 2,
        "the window of blur_x moves by o and i, parts of one loop",
    ),
    "a bound of an axis that is none": ((Bound("blur_y", "z", 4),), 0, "no axis z"),
    "lanes without a split": ((RFactor("product", "k", "p", "l"),), 0, "no inner loop"),
    "a loop of a Func without loops": ((Unroll("blur_x", "x"),), 0, "wherever it is read"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_at_its_primitive_with_a_reason(case: str) -> None:
    primitives, index, reason = REFUSED[case]
    algorithm = MATMUL if primitives[0].func == "product" else BLUR
    with pytest.raises(ScheduleError) as caught:
        checked_nest(algorithm, Schedule(primitives))
    assert caught.value.index == index
    assert reason in caught.value.reason


def test_a_free_size_has_no_nest() -> None:
    axis = LoopAxis("i", symbol("n"))
    data = InputTensor("x", FLOAT, (symbol("n"),))
    algorithm = Algorithm((data,), (Func("y", FLOAT, (axis,), read(data, axis.var)),), ("y",))
    with pytest.raises(ScheduleError, match="n is no number"):
        nest_of(algorithm, ())


def test_after_a_primitive_is_switched_off_the_rest_goes_on_without_what_hung_on_it() -> None:
    primitives = EXAMPLES["blur"].schedule("tiled").primitives
    assert all(not step.refusal for step in steps_of(BLUR, Schedule(primitives)))
    steps = steps_of(BLUR, Schedule(primitives[1:]))  # y is not split any more
    assert [bool(step.refusal) for step in steps] == [False, False, True, True, False]
    assert "blur_y has no loop yo" in steps[2].refusal
    assert "produce blur_x" in nest_text(steps[-1].nest.nodes)


def test_memory_may_come_before_the_place_where_it_is_computed() -> None:
    schedule = EXAMPLES["blur"].schedule("sliding in tiles")
    steps = steps_of(BLUR, schedule)
    assert not any(step.refusal for step in steps)
    assert [bool(step.pending) for step in steps] == [False, False, False, True, False]
    assert "store blur_x" in nest_text(steps[-1].nest.nodes)


def test_a_nest_is_after_each_primitive_what_the_primitives_until_then_make() -> None:
    example = EXAMPLES["matmul"]
    algorithm, schedule = example.make(**example.small), example.schedule("register tiles")
    for number, step in enumerate(steps_of(algorithm, schedule)):
        assert step.nest.nodes == nest_of(algorithm, schedule.primitives[:number]).nodes
