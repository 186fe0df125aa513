"""`passlens schedule`."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from optimizer.loops.evaluation import evaluate
from optimizer.loops.schedule import SCHEDULE
from optimizer.model.generated_functions import generated_names
from optimizer.operators.generated import unscheduled
from optimizer.schedules.examples import EXAMPLES
from profiling.kernels.generated.decisions import keep
from profiling.kernels.generated.own_schedules import all_own, kept_own
from profiling.records import Records
from profiling.schedules.running import Array, random_inputs
from profiling.workers import WorkerPool
from studio.cli import main
from tests.profiling.kernels.generated.test_own_schedules import with_own
from tests.profiling.kernels.models import floats, parsed

pytestmark = pytest.mark.long

needs_halide = pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
NETWORK = """g (float[n,12] x, float[n,12] mask) => (float[n,8] y) <float s = {0.5}> {
    a = Mul(x, s)
    b = Add(a, mask)
    c = Softmax<axis=-1>(b)
    y = MatMul(c, w)
}"""


def said(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["schedule", *map(str, words)]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["schedule", *map(str, words)]) == 2
    return capsys.readouterr().err


def test_without_a_subject_the_examples_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys)
    assert all(id in found for id in EXAMPLES)


def test_a_schedule_is_written_edited_and_applied(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "own.json"
    before = said(capsys, "blur", "--schedule", "tiled", "--save", path)
    assert said(capsys, "blur", "--apply", path).splitlines()[1:] == before.splitlines()[1:]
    document = json.loads(path.read_text())
    document["primitives"][0]["factor"] = 0
    path.write_text(json.dumps(document))
    found = said(capsys, "blur", "--apply", path)
    assert "Primitive 0, blur_y.split(y, yo, yi, 0): a split by 0" in found
    assert "Primitive 2, blur_y.reorder(yo, xo, yi, xi): blur_y has no loop yo" in found
    assert "Primitive 0 of the schedule cannot be applied" in refused(
        capsys, "blur", "--apply", path, "--print", "asm"
    )


def test_all_steps_are_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "blur", "--schedule", "tiled", "--json"))
    assert found["schema"] == "passlens.schedule-view/1"
    assert SCHEDULE.from_json(found["schedule"]) == EXAMPLES["blur"].schedule("tiled")
    assert len(found["steps"]) == 6


def test_what_is_not_there_is_said_with_what_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "the examples are loop-order" in refused(capsys, "blurred")
    assert "there are breadth-first" in refused(capsys, "blur", "--schedule", "best")
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    assert "This is no schedule" in refused(capsys, "blur", "--apply", broken)
    assert "a .py or a .cpp file" in refused(capsys, "blur", "--export", tmp_path / "blur.rs")


@needs_halide
def test_code_is_the_kernels_own_functions(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = "tiling", "--schedule", "4×4 tiles, written out", "--print"
    assembly = said(capsys, *chosen, "asm")
    assert assembly.startswith("kernel:")
    assert re.search(r"v?addps.*xmm", assembly)
    assert "\t.size" not in assembly
    assert "define" in said(capsys, *chosen, "llvm").splitlines()[0]
    assert said(capsys, *chosen, "c").startswith("int kernel(")
    assert "symmetric" in said(capsys, *chosen, "stmt")


@needs_halide
def test_both_schedules_are_timed_in_turns(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "tail", "--time", "--seconds", "0.01")
    assert "recomputing" in found.splitlines()[-3]
    assert found.splitlines()[-1].endswith("× as fast as recomputing.")


@needs_halide
def test_a_region_of_a_model_comes_with_its_default_schedule(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(parsed(NETWORK, {"w": floats(12, 8)}))
    found = said(capsys, path, "--bind", "n=64", "--region", "1")
    assert "Mul + Add + Softmax" in found.splitlines()[0]
    assert "[64×12, 3 KiB]" in found
    assert "there are" in refused(capsys, path, "--bind", "n=64", "--region", "7")


@needs_halide
def test_a_node_names_the_kernel_that_does_its_work_or_says_why_there_is_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "net.onnx"
    model = onnx.load_from_string(parsed(NETWORK, {"w": floats(12, 8)}))
    for node in model.graph.node:
        node.name = f"{node.op_type} of it"
    onnx.save(model, path)
    asked = path, "--bind", "n=64", "--node"
    assert "Mul + Add + Softmax" in said(capsys, *asked, "Softmax of it").splitlines()[0]
    assert "which ONNX Runtime's own library computes" in refused(capsys, *asked, "MatMul of it")
    assert "There is no node 'Gelu'" in refused(capsys, *asked, "Gelu")
    assert "give one of them" in refused(capsys, *asked, "Softmax of it", "--region", "1")


def ran(text: str, inputs: list[Array], shape: tuple[int, ...]) -> Array:
    """What an exported program computes; in a worker."""
    from profiling.codegen.halide_bindings import hl

    space: dict[str, Any] = {"__name__": "exported"}
    exec(text, space)  # noqa: S102 what is tested is that it runs
    result = np.zeros(shape, np.float32)
    for param, array in zip(space["inputs"], inputs, strict=True):
        param.set(hl.Buffer(array))
    space["output"].realize(hl.Buffer(result))
    return result


@needs_halide
@pytest.mark.parametrize("example", ["blur", "conv-nhwc", "matmul", "harris", "tail"])
def test_an_exported_program_computes_the_same(shared_pool: WorkerPool, example: str) -> None:
    from optimizer.schedules.halide_program import halide_program

    one = EXAMPLES[example]
    algorithm = one.make(**one.small)
    inputs = random_inputs(algorithm)
    (expected,) = evaluate(algorithm, inputs)
    text = halide_program(algorithm, one.schedules[-1].schedule, "python")
    found = shared_pool(ran, text, inputs, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    assert "Halide.h" in halide_program(algorithm, one.schedules[-1].schedule, "cpp")


def test_choices_are_a_table_with_the_fastest_first_and_refusals_with_reasons(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = said(capsys, "three-nests", "--schedule", "one nest", "--print", "choices")
    lines = out.splitlines()
    assert lines[1].startswith("now: ")
    assert any(" sums of product side by side along k" in line for line in lines[4:])
    assert "product: run k in parallel: rounds of k combine" in out


def test_the_best_choices_are_measured_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("halide")
    words = "loop-order", "--schedule", "columns first", "--print", "choices"
    out = said(capsys, *words, "--measure", "1", "--seconds", "0.05")
    head, best, second = out.splitlines()[3:6]
    assert "measured" in head
    assert best.count("×") == second.count("×") + 1


def test_a_number_of_choices_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--measure is 0 or more" in refused(
        capsys, "blur", "--print", "choices", "--measure", "-1"
    )


def test_a_nest_is_printed_with_its_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "loop-order", "--schedule", "columns first")
    assert "warning, scaled: inner loop i not vectorized: stride 1024 in data; reorder j" in out


def test_isl_is_asked_what_is_legal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    window = "blur", "--schedule", "sliding window"
    path = tmp_path / "own.json"
    found = said(capsys, *window, "--print", "polyhedral", "--save", path)
    assert "Legal: every dependence runs forward" in found
    document = json.loads(path.read_text())
    document["primitives"].append(
        {"primitive": "parallel", "func": "blur_y", "loop": "y", "nest": 0}
    )
    path.write_text(json.dumps(document))
    raced = said(capsys, "blur", "--apply", path, "--print", "polyhedral")
    assert "Illegal: parallel rounds of y carry a dependence (1) of blur_x" in raced


def test_a_candidate_of_an_example_is_refused_for_it_is_no_kernel(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "not of an example" in refused(capsys, "blur", "--candidate", "mine")


def test_a_schedule_of_a_region_is_kept_as_its_candidate(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSLENS_DATABASE_URL", f"sqlite:///{tmp_path}/records.sqlite")
    model = tmp_path / "network.onnx"
    model.write_bytes(parsed(NETWORK, {"w": floats(12, 8)}))
    said(capsys, model, "--schedule", "no schedule", "--save", tmp_path / "own.json")
    out = said(capsys, model, "--apply", tmp_path / "own.json", "--candidate", "plain")
    kernel = re.search(r"Kept plain as a candidate of (\w+)", out)
    assert kernel is not None
    with Records(f"sqlite:///{tmp_path}/records.sqlite") as records:
        (own,) = kept_own(kernel[1], records)
    assert own.schedule == SCHEDULE.loads((tmp_path / "own.json").read_bytes())


@needs_halide
def test_a_candidate_that_won_is_what_optimize_writes_until_it_is_taken_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSLENS_DATABASE_URL", f"sqlite:///{tmp_path}/records.sqlite")
    model = tmp_path / "network.onnx"
    model.write_bytes(parsed(NETWORK, {"w": floats(12, 8)}))
    said(capsys, model, "--schedule", "no schedule", "--candidate", "mine")
    with Records(f"sqlite:///{tmp_path}/records.sqlite") as records:
        (own,) = all_own(records)
        keep(replace(with_own(0.5, own), name=own.kernel), records)
    assert own.source == hashlib.sha256(model.read_bytes()).hexdigest()

    def written() -> str:
        target = tmp_path / "out.onnx"
        words = ["optimize", model, "--preset", "generated", "--no-verify", "-o", target]
        assert main([*map(str, words)]) == 0
        (name,) = generated_names(target)
        return name

    assert unscheduled(written()) == own.kernel != written()
    assert "Took back mine" in said(capsys, model, "--take-back", "mine")
    assert written() == own.kernel
    assert "No schedule 'mine' is kept" in refused(capsys, model, "--take-back", "mine")
    assert "not of an example" in refused(capsys, "blur", "--take-back", "mine")


def test_isl_writes_a_schedule_that_can_be_stepped(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "blur", "--autoschedule", "isl", "--print", "steps")
    assert "blur_x.compute_at(blur_y, xt)" in found
    assert "cannot be applied" not in found
