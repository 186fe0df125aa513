from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from optimizer.declarations import declarations
from optimizer.registry import Pass, passes
from studio.cli import COMMANDS, main
from studio.graphview.catalogue import pass_record
from tests.optimizer.rewrite.failing import planted
from tests.processors import SUMS_OF_8_BITS

RELU = """<ir_version: 8, opset_import: ["" : 17]>
main (float[2, 3] x) => (float[2, 3] y) {
   a = Identity (x)
   b = Relu (a)
   y = Identity (b)
}"""


@pytest.fixture
def relu(tmp_path: Path) -> Path:
    path = tmp_path / "relu.onnx"
    onnx.save(onnx.parser.parse_model(RELU), path)
    return path


def test_optimize_writes_model_trace_and_report(
    relu: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, trace = tmp_path / "out.onnx", tmp_path / "run.trace"
    assert main(["optimize", str(relu), "-o", str(out), "--trace", str(trace), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "passlens.optimize/1"
    assert (report["before"]["nodes"], report["after"]["nodes"]) == (3, 1)
    assert report["verification"]["verdict"] == "equal"
    assert report["verification"]["same_bits"]
    assert [node.op_type for node in onnx.load(out).graph.node] == ["Relu"]


def test_a_rule_that_fails_is_named_and_makes_the_status_1(
    relu: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with planted():
        words = ["optimize", str(relu), "-o", str(tmp_path / "out.onnx"), "--json"]
        assert main(words) == 1
    said = capsys.readouterr()
    (failed,) = json.loads(said.out)["failed"]
    assert (failed["pass_id"], failed["rule"]) == ("planted-bug", "RaisesAtOnce")
    assert failed["error"] in said.err
    assert "the run went on without it" in said.err
    assert json.loads(said.out)["verification"]["verdict"] == "equal"
    assert len(onnx.load(tmp_path / "out.onnx").graph.node) == 1


NEAR = """<ir_version: 8, opset_import: ["" : 17]>
main (float[1,1,4,4] x) => (float[1,1,4,4] y, float[1,1,4,4] z)
<float[1,1,1,1] w = {2}, float[1] s = {1}, float[1] b = {0}, float[1] v = {1}> {
   i = Identity (x)
   c = Conv (i, w)
   y = BatchNormalization (c, s, b, b, v)
   z = Relu (c)
}"""


@pytest.fixture
def near(tmp_path: Path) -> Path:
    path = tmp_path / "near.onnx"
    onnx.save(onnx.parser.parse_model(NEAR), path)
    return path


def test_why_says_what_stopped_a_pass_and_what_became_of_a_node(
    near: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(near), "y"]) == 0
    assert "Conv output has a second consumer" in capsys.readouterr().out
    assert main(["why", str(near), "i", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["fate"]["kind"]) == ("passlens.why/1", "bypassed")
    (fired,) = (look for look in told["looks"] if look["verdict"] == "fired")
    assert (fired["pass_id"], fired["step"]) == ("eliminate-identity", 1)
    assert main(["why", str(near), "yy", "--disable", "fuse-conv-batch-norm"]) == 2
    assert "There is no node 'yy'" in capsys.readouterr().err


def test_why_reads_a_trace_and_names_what_no_pass_is_for(
    near: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, pipeline = tmp_path / "run.trace", tmp_path / "pipeline.json"
    words = ["optimize", str(near), "-o", str(tmp_path / "out.onnx"), "--no-verify", "--json"]
    assert main([*words, "--trace", str(trace), "--save-pipeline", str(pipeline)]) == 0
    (missed,) = json.loads(capsys.readouterr().out)["near_misses"]
    assert (missed["pass"], missed["count"]) == ("fuse-conv-batch-norm", 1)
    assert missed["places"][0]["node"] == "n2"
    assert main(["why", str(trace), "n2"]) == 0
    first = capsys.readouterr().out
    assert main(["why", str(near), "n2", "--pipeline", str(pipeline)]) == 0
    assert capsys.readouterr().out == first


def test_passes_of_a_model_say_how_often_they_would_fire(
    near: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["passes", str(near), "--json"]) == 0
    told = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)["passes"]}
    assert told["eliminate-identity"]["would_fire"] == 1
    assert told["fuse-conv-batch-norm"]["would_decline"] == 1
    assert told["eliminate-dropout"]["would_fire"] == 0
    assert main(["passes", str(near)]) == 0
    line = next(
        x for x in capsys.readouterr().out.splitlines() if x.startswith("eliminate-identity")
    )
    assert line.split()[1:3] == ["1", "-"]


@SUMS_OF_8_BITS
@pytest.mark.parametrize(
    ("budget", "status", "verdict"), [([], 0, "within"), (["--budget", "60dB"], 1, "exceeds")]
)
def test_a_lossy_pass_that_was_asked_for_is_held_to_a_budget_and_never_called_equal(
    budget: list[str],
    status: int,
    verdict: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source, out = tmp_path / "product.onnx", tmp_path / "out.onnx"
    proto = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        g (float[3, 4] x) => (float[3, 2] y)
        <float[4, 2] w = {-1.21, 0.53, -0.5, 1.25, 0.27, -0.75, 1.0, 0.1}> { y = MatMul (x, w) }"""
    )
    onnx.save(proto, source)
    words = ["optimize", str(source), "-o", str(out), "--json", *budget]
    assert main([*words, "--enable", "quantize-matmul-dynamically"]) == status
    report = json.loads(capsys.readouterr().out)
    assert report["passes"]["quantize-matmul-dynamically"]["rewrites"] == 1
    assert report["verification"]["verdict"] == verdict
    assert report["verification"]["relative_to_scale"] < 0.05
    assert [node.op_type for node in onnx.load(out).graph.node] == ["DynamicQuantizeMatMul"]


def imported_by(*words: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    code = f"""
import sys
sys.argv = {["passlens", *words]!r}
from studio.cli import main
try:
    main()
except SystemExit:
    pass
print(*sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stdout.splitlines()[-1].split())


WEB = {"plotly", "sqlalchemy", "starlette", "streamlit"}
RUNNING = {"numba", "onnxruntime", "profiling.racing", "sympy.core"}
GRAPHS = {"numpy", "onnx", "onnx_ir"}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["passes"], ["passes", "--json"]])
def test_what_needs_no_model_imports_no_library(words: list[str]) -> None:
    imported = imported_by(*words)
    assert imported & (WEB | RUNNING | GRAPHS | {"profiling"}) == set()
    assert len(imported) < 250


def test_the_studio_begins_without_the_server_and_the_graphs() -> None:
    assert imported_by("studio", "--help") & (WEB | RUNNING | (GRAPHS - {"numpy"})) == set()


def test_inspect_imports_graphs_and_nothing_that_runs_or_serves_them(relu: Path) -> None:
    imported = imported_by("inspect", str(relu))
    assert imported & (WEB | RUNNING) == set()
    assert imported >= GRAPHS
    assert len(imported) < 600


def test_the_passes_are_the_same_whether_read_from_their_files_or_imported() -> None:
    def told(declared: list[type[Pass]]) -> list[tuple[dict[str, Any], dict[str, object]]]:
        return [(pass_record(p), dict(p().options())) for p in declared]

    assert told(declarations()) == told(passes())


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"passlens {importlib.metadata.version('passlens')}\n"


def test_without_a_command_all_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["no-such-command"]):
        with pytest.raises(SystemExit):
            main(words)
    named = capsys.readouterr().err
    assert all(f"'{command}'" in named for command in COMMANDS)


def test_replay_of_the_last_step_is_the_optimized_file(relu: Path, tmp_path: Path) -> None:
    out, trace, again = (tmp_path / name for name in ("out.onnx", "run.trace", "again.onnx"))
    main(["optimize", str(relu), "-o", str(out), "--trace", str(trace), "--no-verify"])
    assert main(["replay", str(trace), "--step", "2", "-o", str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()
    assert main(["replay", str(trace), "--step", "3", "-o", str(again)]) == 2


def test_verify_answers_1_when_outputs_differ(relu: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.onnx"
    onnx.save(onnx.parser.parse_model(RELU.replace("Relu", "Abs")), other)
    assert main(["verify", str(relu), str(relu)]) == 0
    assert main(["verify", str(relu), str(other)]) == 1


def test_verify_holds_a_lossy_model_to_a_budget(
    relu: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.onnx"
    onnx.save(onnx.parser.parse_model(RELU.replace("Relu", "Abs")), other)
    capsys.readouterr()
    assert main(["verify", str(relu), str(relu), "--budget", "25 dB"]) == 0
    assert "Within 25 dB: no error" in capsys.readouterr().err
    assert main(["verify", str(relu), str(other), "--budget", "5%", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["budget"]) == ("exceeds", "5 %")


def test_verify_names_the_first_layer_that_is_wrong_on_the_user_s_samples(
    relu: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, samples = tmp_path / "other.onnx", tmp_path / "samples"
    onnx.save(onnx.parser.parse_model(RELU.replace("Relu", "Abs")), other)
    samples.mkdir()
    words = ["verify", str(relu), str(other), "--layers", "--json", "--samples", str(samples)]
    assert main(words) == 2
    assert "holds no .npz or .npy file" in capsys.readouterr().err
    np.save(samples / "x.npy", np.full((2, 3), -1, np.float32))
    assert main(words) == 1
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert (layers["first"], layers["samples"], layers["generated"]) == ("b", 1, False)


def test_bisect_names_the_step_that_was_tampered_with(
    relu: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import zipfile

    trace, bad = tmp_path / "run.trace", tmp_path / "bad.trace"
    main(["optimize", str(relu), "-o", str(tmp_path / "o.onnx"), "--trace", str(trace)])
    with zipfile.ZipFile(trace) as good, zipfile.ZipFile(bad, "w") as out:
        for name in good.namelist():
            data = good.read(name)
            if name == "trace.json":
                document = json.loads(data)
                # the last output now skips the Relu
                for edit in document["rewrites"][1]["edits"]:
                    if edit["edit"] == "set_graph_output":
                        edit["new"] = "i0"
                document["rewrites"][1]["edits"] = [
                    edit for edit in document["rewrites"][1]["edits"] if edit["edit"] != "rename"
                ]
                data = json.dumps(document).encode()
            out.writestr(name, data)
    assert main(["bisect", str(trace)]) == 0
    assert main(["bisect", str(trace), "--budget", "40dB"]) == 0
    assert "The last of them: Within 40 dB" in capsys.readouterr().err
    for budget in ([], ["--budget", "1%"]):
        assert main(["bisect", str(bad), "--json", *budget]) == 1
        assert json.loads(capsys.readouterr().out)["step"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "nothing-here"],
        ["optimize", "tour", "-o", "out.onnx", "--enable", "no-such-pass"],
        ["optimize", "tour", "-o", "out.onnx", "--bind", "batch"],
        ["optimize", "tour", "-o", "out.onnx", "--bind", "no-such-dim=3"],
        ["replay", "pyproject.toml", "--step", "0", "-o", "out.onnx"],
        ["verify", "tour", "tour", "--budget", "much"],
        ["bisect", "pyproject.toml", "--budget", "0%"],
    ],
)
def test_bad_input_is_one_line_and_status_2(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("passlens: ")


def test_passes_lists_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["passes", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["passes"]
    assert {"eliminate-identity", "fold-constants"} <= {entry["id"] for entry in listed}
