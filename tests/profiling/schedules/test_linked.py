"""Lines of code and the loops they come from, and what the instructions of each loop are."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec

import pytest

from optimizer.loops.schedule import ComputeAt, ComputeRoot, Primitive, Schedule, Unroll
from optimizer.schedules.examples import EXAMPLES
from profiling.codegen.kernel import CpuLevel
from profiling.schedules import linked as module
from profiling.schedules.differences import code_difference
from profiling.schedules.functions import CODE_VIEWS
from profiling.schedules.instructions import instruction
from profiling.schedules.linked import LINKED_CODE, LinkedCode, linked_code
from profiling.workers import WorkerPool
from tests.profiling.schedules.disassembly import disassembled

pytestmark = [
    pytest.mark.skipif(find_spec("halide") is None, reason="needs Halide"),
    pytest.mark.long,
]
needs_objdump = pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
LEVELS = ("stmt", "c", "llvm", "asm")
KINDS = ("instructions", "zmm", "ymm", "xmm", "scalar", "fma", "gather", "calls")


def linked(
    pool: WorkerPool,
    example: str,
    name: str,
    level: CpuLevel = "avx512",
    *more: Primitive,
) -> LinkedCode:
    one = EXAMPLES[example]
    schedule = Schedule((*one.schedule(name).primitives, *more))
    return pool(linked_code, example, one.algorithm, schedule, level)


def texts(found: LinkedCode, level: str, func: str, loop: str, stage: int = 0) -> list[str]:
    """Lines of a loop and of what is in it."""
    (number,) = (
        n
        for n, node in enumerate(found.nodes)
        if (node.kind, node.func, node.loop, node.stage) == ("loop", func, loop, stage)
    )
    depth = found.nodes[number].depth
    after = (n for n in range(number + 1, len(found.nodes)) if found.nodes[n].depth <= depth)
    inside = range(number, next(after, len(found.nodes)))
    return [
        line.text for line in found.level(level).lines if any(node in inside for node in line.nodes)
    ]


@pytest.mark.parametrize(
    ("example", "name", "func", "loop", "stage", "word"),
    [
        ("matmul", "register tiles", "product", "k", 1, "vmulps"),
        ("matmul", "naive", "product", "k", 1, "vmulss"),
        ("conv-nchw", "8 filters × 28 pixels", "conv", "kx", 1, "vmulps"),
        ("conv-nhwc", "32 filters × 7 pixels", "conv", "c", 1, "vmulps"),
        ("blur", "tiled and vectorized", "blur_x", "xv", 0, "vaddps"),
        ("blur", "sliding window", "blur_y", "y", 0, "vaddss"),
        ("softmax", "rows in vectors", "power", "jo", 0, "vfmadd"),
        ("softmax", "rows in vectors", "highest_lanes", "ko", 1, "vcmp"),
    ],
)
def test_a_loop_has_lines_at_every_level_and_the_assembly_does_its_work(
    shared_pool: WorkerPool, example: str, name: str, func: str, loop: str, stage: int, word: str
) -> None:
    found = linked(shared_pool, example, name)
    for level in LEVELS:
        assert texts(found, level, func, loop, stage), level
    assert any(word in line for line in texts(found, "asm", func, loop, stage))
    assert any(f"for ({func}.s{stage}." in one for one in texts(found, "stmt", func, loop, stage))
    assert any(f"_{func}_s{stage}_" in one for one in texts(found, "c", func, loop, stage))
    assert any(f"_for_{func}.s{stage}." in one for one in texts(found, "llvm", func, loop, stage))


def test_lines_of_one_stage_are_not_lines_of_another(shared_pool: WorkerPool) -> None:
    found = linked(shared_pool, "blur", "tiled")
    for level in ("stmt", "c"):
        assert not any("blur_y[" in one for one in texts(found, level, "blur_x", "x"))
        assert not any("image[" in one for one in texts(found, level, "blur_y", "xi"))
    assert not set(texts(found, "asm", "blur_x", "x")) & {"\tmovq\t%rsp, %rbp"}


def test_what_no_tool_names_has_no_loop(shared_pool: WorkerPool) -> None:
    found = linked(shared_pool, "matmul", "register tiles")
    (call,) = (
        one for one in found.level("asm").lines if "halide_do_par_for" in one.text and one.marks
    )
    assert call.nodes == ()
    lets = [one for one in found.level("stmt").lines if one.text.startswith("let a = ")]
    assert [bool(one.nodes) for one in lets] == [True, False], "of the loop's rounds, and before"


def test_a_name_that_was_used_before_in_the_process_changes_nothing(
    shared_pool: WorkerPool,
) -> None:
    one = EXAMPLES["softmax"]
    first, second = shared_pool(_twice, one.id)
    assert first.loops == second.loops
    found = code_difference(first, second, CODE_VIEWS)
    assert [level.changed for level in found.levels] == [0, 0, 0, 0]
    assert "$1" not in "".join(line.text for line in second.level("stmt").lines)


def _twice(example: str) -> list[LinkedCode]:
    one = EXAMPLES[example]
    last = one.schedules[-1].schedule
    return [linked_code("", one.algorithm, last, "avx2") for _ in range(2)]


def test_linked_code_is_a_document(shared_pool: WorkerPool) -> None:
    found = linked(shared_pool, "blur", "tiled", "baseline")
    assert LINKED_CODE.loads(LINKED_CODE.dumps(found)) == found
    assert [level.id for level in found.levels] == ["nest", *LEVELS]


def test_nodes_of_a_model_are_linked_to_the_loops_that_compute_them() -> None:
    from optimizer.schedules.steps import checked_nest
    from profiling.schedules.origins import origin_lines

    algorithm = EXAMPLES["matmul"].algorithm
    funcs = tuple(replace(func, origin=f"node {func.name}") for func in algorithm.funcs)
    algorithm = replace(algorithm, funcs=funcs)
    nodes = checked_nest(algorithm, EXAMPLES["matmul"].schedule("naive")).nodes
    found = {
        text: [nodes[n].func for n in numbers] for text, numbers in origin_lines(algorithm, nodes)
    }
    assert found == {
        "node product: product": ["product", "product"],
        "node biased: biased": ["relu"],
        "node relu: relu": ["relu"],
    }


def test_long_code_is_cut_and_says_how_much_is_missing(
    shared_pool: WorkerPool,
) -> None:
    whole = linked(shared_pool, "blur", "tiled").level("c")
    found = shared_pool(_cut_at, 20)
    level = found.level("c")
    assert len(level.lines) == 20
    assert level.left_out == len(whole.lines) - 20
    assert found.loops == linked(shared_pool, "blur", "tiled").loops


def _cut_at(lines: int) -> LinkedCode:
    before, module.MOST_LINES = module.MOST_LINES, lines
    try:
        one = EXAMPLES["blur"]
        return linked_code("", one.algorithm, one.schedule("tiled"), "avx512")
    finally:
        module.MOST_LINES = before


WRITTEN_OUT = Unroll("relu", "i2"), Unroll("relu", "jv")
"""Then a tile is never an array: LLVM has all of it in registers, or spills it."""


@needs_objdump
@pytest.mark.parametrize(
    ("example", "name", "level"),
    [
        ("matmul", "register tiles", "avx512"),
        ("matmul", "register tiles", "avx2"),
        ("matmul", "naive", "baseline"),
        ("conv-nchw", "rows in vectors", "avx2"),
        ("blur", "full fusion", "avx512"),
        ("softmax", "rows in vectors", "avx2"),
        ("tail", "mask", "avx512"),
    ],
)
def test_instructions_of_all_loops_are_those_of_the_object_file(
    shared_pool: WorkerPool, example: str, name: str, level: CpuLevel
) -> None:
    one = EXAMPLES[example]
    counts = shared_pool(disassembled, one.algorithm, one.schedule(name), level)
    other = sum(counts.values(), Counter[str]())
    loops = linked(shared_pool, example, name, level).loops
    found = {kind: sum(getattr(loop, kind) for loop in loops) for kind in KINDS}
    assert found == {kind: other[kind] for kind in KINDS}


@needs_objdump
@pytest.mark.parametrize(
    ("level", "spills"), [("avx512", False), ("avx2", True), ("baseline", True)]
)
def test_spills_are_all_that_a_function_without_arrays_writes_to_the_stack(
    shared_pool: WorkerPool, level: CpuLevel, spills: bool
) -> None:
    """8×32 sums are 16 vectors of AVX-512, which has 32, and 32 of AVX, which has 16."""
    one = EXAMPLES["matmul"]
    schedule = Schedule((*one.schedule("register tiles").primitives, *WRITTEN_OUT))
    found = linked(shared_pool, "matmul", "register tiles", level, *WRITTEN_OUT)
    llvm = "\n".join(line.text for line in found.level("llvm").lines)
    assert "alloca" not in llvm.partition("@kernel(")[0], "it has an array: choose another"
    counts = shared_pool(disassembled, one.algorithm, schedule, level)
    (name,) = (name for name in counts if name != "kernel")
    assert sum(loop.spills for loop in found.loops) == counts[name]["stack writes"]
    assert sum(loop.reloads for loop in found.loops) == counts[name]["stack reads"]
    (k,) = (loop for loop in found.loops if loop.node >= 0 and found.nodes[loop.node].loop == "k")
    assert bool(k.spills) == spills
    assert k.spilled_bytes % (16 if level == "baseline" else 32) == 0


def test_an_array_on_the_stack_is_no_spill(shared_pool: WorkerPool) -> None:
    found = linked(shared_pool, "blur", "tiled and vectorized")
    assert "alloca" in "".join(line.text for line in found.level("llvm").lines)
    assert not any(loop.spills for loop in found.loops)


@pytest.mark.parametrize(
    ("line", "marks", "size"),
    [
        ("\tvaddps\t%zmm1, %zmm2, %zmm3", ("zmm",), 0),
        ("\tvaddss\t4(%rax), %xmm2, %xmm3", ("scalar",), 0),
        ("\tvbroadcastss\t(%rax), %ymm1   # ymm1 = mem", ("ymm",), 0),
        ("\tvfmadd231ps\t(%rax), %zmm1, %zmm2", ("zmm", "fma"), 0),
        ("\tvfnmadd231ss\t(%rax), %xmm1, %xmm2", ("scalar", "fma"), 0),
        ("\tvgatherdps\t(%rax,%zmm1,4), %zmm2 {%k1}", ("zmm", "gather"), 0),
        ("\tvextractf128\t$1, %ymm1, %xmm2", ("ymm",), 0),
        ("\tvmovups\t%zmm1, 64(%rsp)   # 64-byte Spill", ("zmm", "spill"), 64),
        ("\tvaddps\t64(%rsp), %ymm1, %ymm1   # 32-byte Folded Reload", ("ymm", "reload"), 32),
        ("\tcallq\tmemset@PLT", ("call",), 0),
        ("\tpushq\t%rbp", (), 0),
    ],
)  # fmt: skip
def test_what_an_instruction_is(line: str, marks: tuple[str, ...], size: int) -> None:
    found = instruction(line)
    assert found is not None
    assert (found.marks, found.spilled_bytes) == (marks, size)


@pytest.mark.parametrize("line", [".LBB0_1:   # %entry", "   # =>This Loop", "", "# %bb.0:"])
def test_labels_and_comments_are_no_instructions(line: str) -> None:
    assert instruction(line) is None


def test_a_node_whose_func_moves_keeps_its_lines(shared_pool: WorkerPool) -> None:
    one = EXAMPLES["blur"]
    for placed in (ComputeRoot("blur_x"), ComputeAt("blur_x", "blur_y", "y")):
        found = shared_pool(linked_code, "", one.algorithm, Schedule((placed,)), "avx2")
        assert all(texts(found, level, "blur_x", "x") for level in LEVELS)
