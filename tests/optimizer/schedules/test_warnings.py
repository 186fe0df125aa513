"""Warnings: each where it is due, with its loop, and gone once its advice is taken."""

from __future__ import annotations

import pytest

from optimizer.loops.schedule import (
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Parallel,
    Primitive,
    Reorder,
    Split,
    Unroll,
    Vectorize,
)
from optimizer.schedules.document import SCHEDULE_VIEW, view_of
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.nest import nest_of
from optimizer.schedules.warnings import NestWarning, warnings_of


def warned(example: str, *primitives: Primitive) -> list[NestWarning]:
    return list(warnings_of(nest_of(EXAMPLES[example].algorithm, primitives)))


LANES = Split("scaled", "j", "jo", "lane", 16), Vectorize("scaled", "lane")
DUE: dict[str, tuple[str, tuple[Primitive, ...], str, str, str, tuple[Primitive, ...]]] = {
    "stride": (
        "loop-order", (Reorder("scaled", ("j", "i")),), "scaled", "i",
        "inner loop i not vectorized: stride 1024 in data", LANES,
    ),
    "gather": (
        "loop-order", (Split("scaled", "i", "io", "v", 16), Vectorize("scaled", "v")),
        "scaled", "v", "lanes of v are 1024 apart in data: each is an access of its own", LANES,
    ),
    "lanes": (
        "loop-order", (Split("scaled", "j", "jo", "v", 3), Vectorize("scaled", "v")),
        "scaled", "v", "vector v has 3 lanes of 16", LANES,
    ),
    "tail": (
        "tail", LANES, "scaled", "lane",
        "16 does not divide the loop of which lane is the inner part: the last rounds ask at "
        "each element",
        (Split("scaled", "j", "jo", "lane", 16, "predicate"), Vectorize("scaled", "lane")),
    ),
    "few rounds": (
        "loop-order", (Split("scaled", "i", "io", "ii", 128), Parallel("scaled", "io")),
        "scaled", "io",
        "parallel loop io has 2 rounds: threads are left without work, or with unequal shares",
        (Split("scaled", "i", "io", "ii", 8), Parallel("scaled", "io")),
    ),
    "tiny task": (
        "loop-order", (Parallel("scaled", "i"),), "scaled", "i",
        "a round of parallel loop i is 2,048 operations: handing it to a thread takes as long",
        (Split("scaled", "i", "io", "ii", 16), Parallel("scaled", "io")),
    ),
    "begins often": (
        "loop-order", (Parallel("scaled", "j"),), "scaled", "j",
        "parallel loop j begins 256 times, and threads wait for each other after each",
        (Split("scaled", "i", "io", "ii", 16), Parallel("scaled", "io")),
    ),
    "memory": (
        "blur", (ComputeRoot("blur_x"),), "blur_x", "",
        "24 MiB between blur_x and whoever reads it: more than L2 holds, so all of it passes L3",
        (ComputeAt("blur_x", "blur_y", "y"),),
    ),
    "recomputed": (
        "blur", (ComputeInline("blur_x"),), "blur_x", "",
        "blur_x is computed 3.00× as often as needed", (ComputeRoot("blur_x"),),
    ),
    "chain": (
        "matmul-split", (), "product", "k",
        "one sum at a time: each round of k waits for the one before",
        (Split("product", "j", "jo", "ji", 8, nest=1), Reorder("product", ("jo", "k", "ji"), 1),
         Unroll("product", "ji", 1)),
    ),
    "serial": (
        "matmul-split", (), "product_out", "i",
        "nothing runs in parallel: 268,697,600 operations on one thread",
        (Parallel("product", "i", 1),),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DUE)
def test_a_warning_is_there_where_it_is_due_and_gone_once_it_is_heeded(case: str) -> None:
    example, primitives, func, loop, text, better = DUE[case]
    (found,) = [one for one in warned(example, *primitives) if one.text == text]
    assert (found.func, found.loop) == (func, loop)
    assert found.advice
    kind = text.split(" ")[0], text.split(" ")[-1]
    assert not [
        one
        for one in warned(example, *better)
        if one.text == text or (one.text.split(" ")[0], one.text.split(" ")[-1]) == kind
    ]


def test_the_advice_on_a_loop_that_jumps_names_the_one_that_does_not() -> None:
    (found, *_) = warned("loop-order", Reorder("scaled", ("j", "i")))
    assert found.advice == "reorder j innermost, then split j by 16 and vectorize"


def test_register_tiles_leave_nothing_to_be_said() -> None:
    assert warned("matmul", *EXAMPLES["matmul"].schedule("register tiles").primitives) == []


def test_the_view_of_a_schedule_carries_the_warnings_of_each_step() -> None:
    example = EXAMPLES["blur"]
    view = view_of("blur", example.algorithm, example.schedule("tiled and vectorized"))
    again = SCHEDULE_VIEW.loads(SCHEDULE_VIEW.dumps(view))
    assert len(again.steps[0].warnings) > len(again.steps[-1].warnings) == 0
    first, last = again.steps[0].predicted_us, again.steps[-1].predicted_us
    assert first is not None
    assert last is not None
    assert first > last > 0


def test_a_view_of_before_there_were_warnings_is_still_read() -> None:
    example = EXAMPLES["blur"]
    document = SCHEDULE_VIEW.to_json(view_of("blur", example.algorithm, example.schedule("tiled")))
    for step in document["steps"]:
        del step["warnings"], step["predicted_us"]
    assert SCHEDULE_VIEW.from_json(document).steps[0].warnings == ()
