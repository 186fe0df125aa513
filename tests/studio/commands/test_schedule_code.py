"""`passlens schedule --print linked`, `--diff`, and code for GPUs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from optimizer.loops.schedule import SCHEDULE, GpuBlocks, GpuThreads, Schedule, Unroll
from optimizer.schedules.examples import EXAMPLES
from profiling.codegen.triton_candidate import triton_missing
from profiling.schedules.differences import CODE_DIFFERENCE
from profiling.schedules.gpu_code import GPU_VIEWS, gpu_code
from profiling.schedules.gpu_linked import GPU_CODE, gpu_linked_code
from profiling.schedules.linked import LINKED_CODE
from profiling.workers import WorkerPool
from tests.profiling.kernels.models import floats, parsed
from tests.studio.commands.test_schedule import NETWORK, needs_halide, refused, said

pytestmark = pytest.mark.long


@needs_halide
def test_the_loops_of_a_schedule_are_shown_with_their_instructions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = said(capsys, "blur", "--schedule", "tiled", "--print", "linked").splitlines()
    (row,) = (line for line in lines if "for xi in 32" in line)
    assert row.split()[4:] == ["16", "10"], "instructions, and those on single numbers"
    assert lines[-1].endswith("lines of asm")


@needs_halide
def test_all_levels_are_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "blur", "--schedule", "tiled", "--print", "linked", "--json")
    assert json.loads(text)["schema"] == "passlens.linked-code/1"
    found = LINKED_CODE.loads(text.encode())
    assert [level.id for level in found.levels] == ["nest", "stmt", "c", "llvm", "asm"]


@needs_halide
def test_nodes_of_a_model_are_the_first_column(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(parsed(NETWORK, {"w": floats(12, 8)}))
    words = ("--bind", "n=64", "--region", "1", "--print", "linked", "--json")
    found = LINKED_CODE.loads(said(capsys, path, *words).encode())
    lines = found.level("onnx").lines
    assert ["".join(line.text.partition(":")[1:]) for line in lines] == [
        ": mul", ": add", ": softmax_max, softmax_exp, softmax_sum, softmax",
    ]  # fmt: skip
    funcs = {found.nodes[node].func for node in lines[-1].nodes}
    assert {"softmax_exp", "softmax"} <= funcs, "loops that compute it"
    assert lines[0].nodes, "in the loops of its readers"


@needs_halide
def test_two_steps_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("blur", "--schedule", "tiled and vectorized", "--diff")
    text = said(capsys, *words, "5")
    assert "lines differ" in text.splitlines()[0]
    assert "-       vaddss" in text
    assert "+       vaddps" in text
    assert said(capsys, *words, "3:3") == "Assembly, steps 3 and 3: the same.\n"
    found = CODE_DIFFERENCE.loads(said(capsys, *words, "5", "--print", "c", "--json").encode())
    assert [level.id for level in found.levels] == ["c"]


def test_a_step_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "takes a step or two" in refused(capsys, "blur", "--diff", "first")
    assert "this schedule has steps 0 to 9" in refused(capsys, "blur", "--diff", "10")


@needs_halide
def test_a_schedule_that_cannot_be_compiled_is_refused_at_its_primitive(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(SCHEDULE.dumps(Schedule((Unroll("blur_y", "x"), Unroll("blur_y", "y")))))
    found = refused(capsys, "blur", "--apply", path, "--print", "linked")
    assert "Primitive 0 of the schedule cannot be applied: its loops written out" in found


@pytest.mark.skipif(not triton_missing(), reason="Triton is installed")
def test_without_triton_one_sentence_says_what_to_install(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = refused(capsys, "softmax", "--print", "ptx")
    assert "Triton is not installed: pip install passlens[triton]" in found


@pytest.mark.skipif(not triton_missing(), reason="Triton is installed")
def test_what_can_be_said_without_triton_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "softmax", "--print", "gpu").splitlines()
    assert lines[0].endswith("by Triton for sm_90")
    assert lines[-1] == "Triton is not installed: pip install passlens[triton]."
    found = GPU_CODE.loads(said(capsys, "softmax", "--print", "gpu", "--json").encode())
    assert [level.id for level in found.levels] == ["triton"]


@needs_halide
def test_a_schedule_for_a_gpu_has_no_guessed_time_and_its_own_ptx(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(
        SCHEDULE.dumps(Schedule((GpuBlocks("blur_y", "y"), GpuThreads("blur_y", "x"))))
    )
    assert "time: not guessed: runs on a GPU" in said(capsys, "blur", "--apply", path)
    assert ".visible .entry _kernel_blur_y" in said(
        capsys, "blur", "--apply", path, "--print", "ptx"
    )
    lines = said(capsys, "blur", "--apply", path, "--print", "linked").splitlines()
    assert "GPU block y in 2046" in lines[2]
    assert lines[-1].endswith("lines of ptx")


@pytest.mark.skipif(bool(triton_missing()), reason=triton_missing() or "it is here")
@pytest.mark.slow
def test_triton_gives_all_levels_for_a_gpu_that_is_not_here(shared_pool: WorkerPool) -> None:
    found = shared_pool.run_fresh(gpu_code, EXAMPLES["softmax"].algorithm)
    assert tuple(found) == GPU_VIEWS
    assert "tt.func" in found["ttir"]
    assert "#ttg.blocked" in found["ttgir"]
    assert ".target sm_90" in found["ptx"]
    assert "STG" in found["sass"]


@pytest.mark.skipif(bool(triton_missing()), reason=triton_missing() or "it is here")
@pytest.mark.slow
def test_a_line_of_triton_is_linked_down_to_the_machine_code(shared_pool: WorkerPool) -> None:
    found = shared_pool.run_fresh(gpu_linked_code, "", EXAMPLES["softmax"].algorithm)
    assert found.missing == ""
    assert tuple(level.id for level in found.levels) == GPU_VIEWS
    source = [line.text.strip() for line in found.level("triton").lines]

    def texts(level: str, begin: str) -> str:
        (number,) = (n for n, text in enumerate(source) if text.startswith(begin))
        return "\n".join(line.text for line in found.level(level).lines if number in line.nodes)

    for level, word in {
        "ttir": "math.exp",
        "ttgir": "math.exp",
        "ptx": "ex2",
        "sass": "EX2",
    }.items():
        assert word in texts(level, "v7 = tl.exp("), level
        assert word not in texts(level, "tl.store("), level
    for level, word in {
        "ttir": "tt.store",
        "ttgir": "tt.store",
        "ptx": "st.",
        "sass": "STG",
    }.items():
        assert word in texts(level, "tl.store("), level
    for level in ("ttir", "ttgir", "ptx", "sass"):
        assert texts(level, "held_1 = tl.sum("), f"{level}: through two calls of the library"
    (usage,) = found.kernels
    assert usage.registers
    assert usage.shared_bytes
    assert usage.spill_store_bytes == 0
