"""Two codes side by side."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from optimizer.errors import StudioError
from optimizer.loops.schedule import ComputeAt, Schedule, Split, StoreRoot
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.prefix import schedule_at
from profiling.schedules.differences import (
    CODE_DIFFERENCE,
    code_difference,
    difference,
    plain_line,
    unified,
)
from profiling.schedules.functions import CODE_VIEWS, CodeView
from profiling.schedules.linked import LinkedCode, linked_code
from profiling.workers import WorkerPool

needs_halide = pytest.mark.skipif(find_spec("halide") is None, reason="needs Halide")


@pytest.mark.parametrize(
    ("view", "one", "other"),
    [
        ("asm", "\tvaddps\t%zmm1, %zmm2, %zmm3 # note", "\tvaddps\t%zmm4, %zmm15, %zmm6"),
        ("asm", "\tmovq\t%rax, 40(%rsp)  # 8-byte Spill", "\tmovq\t%r12, 8(%rsp)"),
        ("asm", '.LBB0_3:   # %"1_for_x"', ".LBB1_12:"),
        ("asm", "\tjne\t.LBB0_4", "\tjne\t.LBB0_14"),
        ("llvm", "  %5 = fadd float %t2487, %3", "  %91 = fadd float %t8, %12"),
        ("llvm", '"3_for_f.s0.x":    ; preds = %entry', '"7_for_f.s0.x":'),
        ("llvm", "  %a = load i32, ptr %b, align 4, !tbaa !13", "  %a = load i32, ptr %b, align 8"),
        ("c", "  float _12 = _3 + _5;", "  float _8 = _1 + _7;"),
        ("stmt", "let t78 = f.s0.x*32", " let t9 = f.s0.x*32"),
    ],
)
def test_what_a_compiler_numbers_anew_is_no_difference(
    view: CodeView, one: str, other: str
) -> None:
    assert plain_line(one, view) == plain_line(other, view)


@pytest.mark.parametrize(
    ("view", "one", "other"),
    [
        ("asm", "\tvaddps\t%zmm1, %zmm2, %zmm3", "\tvaddps\t%ymm1, %ymm2, %ymm3"),
        ("asm", "\taddq\t$32, %rax", "\taddq\t$64, %rax"),
        ("asm", "\tvmovups\t(%rax), %zmm1", "\tvmovups\t64(%rax), %zmm1"),
        ("llvm", "  %5 = fadd float %t1, %3", "  %5 = fmul float %t1, %3"),
        ("c", "  float _12 = _3 + _5;", "  float _12 = _3 * _5;"),
        ("stmt", "let t78 = f.s0.x*32", "let t78 = f.s0.x*64"),
    ],
)
def test_what_is_computed_is_a_difference(view: CodeView, one: str, other: str) -> None:
    assert plain_line(one, view) != plain_line(other, view)


def test_every_line_of_both_stands_once_and_in_order() -> None:
    before = ["a", "b", "c", "d", "x", "y"]
    after = ["a", "c", "d", "e", "z", "y", "w"]
    rows = difference(before, after, "stmt")
    assert [row.before for row in rows if row.before >= 0] == list(range(6))
    assert [row.after for row in rows if row.after >= 0] == list(range(7))
    assert [row.change for row in rows] == [
        "same", "removed", "same", "same", "changed", "added", "same", "added",
    ]  # fmt: skip
    assert all(before[r.before] == after[r.after] for r in rows if r.change == "same")


def test_codes_without_a_line_have_no_rows() -> None:
    assert difference([], [], "asm") == ()
    assert [row.change for row in difference([], ["a"], "asm")] == ["added"]


def test_thousands_of_equal_lines_are_replaced_as_a_whole() -> None:
    rows = difference(["f", *["a"] * 3000], ["g", *["a"] * 2999, "b"], "asm")
    assert {row.change for row in rows} == {"changed"}


def at(pool: WorkerPool, step: int) -> LinkedCode:
    one = EXAMPLES["matmul"]
    schedule = schedule_at(one.algorithm, one.schedule("register tiles"), step)
    return pool(linked_code, "", one.algorithm, schedule, "avx2")


@needs_halide
def test_a_schedule_compiled_twice_has_no_difference(shared_pool: WorkerPool) -> None:
    found = code_difference(at(shared_pool, 18), at(shared_pool, 18), CODE_VIEWS)
    assert [level.changed for level in found.levels] == [0, 0, 0, 0]
    assert set(unified(found.levels[0])) == {"…"}


@needs_halide
def test_a_primitive_shows_in_the_statements_even_if_the_machine_does_the_same(
    shared_pool: WorkerPool,
) -> None:
    """Step 12 splits a loop that only sets sums to 0: LLVM writes the same for it."""
    found = code_difference(at(shared_pool, 11), at(shared_pool, 12), CODE_VIEWS)
    changed = {level.id: level.changed for level in found.levels}
    assert changed["asm"] == 0 < changed["stmt"]
    assert CODE_DIFFERENCE.loads(CODE_DIFFERENCE.dumps(found)) == found
    text = list(unified(found.levels[0]))
    assert any(line.startswith("- ") for line in text)
    assert any(line.startswith("+ ") for line in text)


def test_a_step_has_what_was_applied_until_then() -> None:
    algorithm = EXAMPLES["blur"].algorithm
    primitives = (
        Split("blur_y", "y", "yo", "yi", 0),
        StoreRoot("blur_x"),
        ComputeAt("blur_x", "blur_y", "y"),
    )
    schedule = Schedule(primitives)
    assert schedule_at(algorithm, schedule, 3) == Schedule(primitives[1:])
    assert schedule_at(algorithm, schedule, 1) == Schedule()
    with pytest.raises(StudioError, match="Step 2 has no code: "):
        schedule_at(algorithm, schedule, 2)
    with pytest.raises(StudioError, match="There is no step 4: this schedule has steps 0 to 3"):
        schedule_at(algorithm, schedule, 4)
