from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.model.generated_functions import generated_names
from studio.cli import main
from tests.profiling.kernels.models import floats, parsed

pytestmark = pytest.mark.long

NETWORK = """g (float[n,12] x, float[n,12] mask) => (float[n,8] y) <float s = {0.5}> {
    a = Mul(x, s)
    b = Add(a, mask)
    c = Softmax<axis=-1>(b)
    y = MatMul(c, w)
}"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("kernels") / "net.onnx"
    path.write_bytes(parsed(NETWORK, {"w": floats(12, 8)}))
    return str(path)


def document(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main(["kernels", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_kernels_of_a_model_are_listed_with_sizes_and_reasons(
    capsys: pytest.CaptureFixture[str], network: str
) -> None:
    found = document(capsys, network, "--bind", "n=4", "--list")
    assert found["schema"] == "passlens.kernel-decisions/1"
    (kernel,) = found["kernels"]
    assert kernel["operators"] == ["Mul", "Add", "Softmax"]
    assert "predicted apart" in kernel["reason"]
    assert kernel["decision"] is None
    assert main(["kernels", network, "--bind", "n=4", "--list"]) == 0
    text = capsys.readouterr().out
    assert "1 kernel in 1 place" in text
    assert "Mul + Add + Softmax on 4×12" in text


def test_a_kernel_is_raced_once_and_read_again(
    capsys: pytest.CaptureFixture[str], network: str
) -> None:
    words = [network, "--bind", "n=64", "--seconds", "0.2"]
    first, again = document(capsys, *words), document(capsys, *words)
    made, read = (one["kernels"][0]["decision"] for one in (first, again))
    assert made["raced"]["race"]["started_at"] == read["raced"]["race"]["started_at"]
    labels = [one["label"] for one in made["raced"]["candidates"]]
    assert {"ONNX Runtime", "Halide", "C"} <= {*labels}
    assert labels[0].startswith("ONNX Runtime")
    assert made["checked"]["C"] >= 19
    assert main(["kernels", *words]) == 0
    assert "times as fast" in capsys.readouterr().out


def test_without_a_compiler_every_kernel_says_so_and_the_chain_stays(
    capsys: pytest.CaptureFixture[str], network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "profiling.kernels.generated.implementations.compiler_missing",
        lambda: "There is no C compiler for generated kernels.",
    )
    found = document(capsys, network, "--bind", "n=3", "--seconds", "0.2", "--again")
    decision = found["kernels"][0]["decision"]
    assert decision["winner"].startswith("ONNX Runtime")
    reasons = {one["label"]: one["unavailable"] for one in decision["raced"]["candidates"]}
    assert reasons["Halide"] == reasons["C"] == "There is no C compiler for generated kernels."


@pytest.mark.parametrize("words", [["--seconds", "0"], ["--threads", "0"], ["--seconds", "1e9"]])
def test_impossible_arguments_are_one_sentence(
    capsys: pytest.CaptureFixture[str], network: str, words: list[str]
) -> None:
    assert main(["kernels", network, *words]) == 2
    assert "above 0 and 600 at most" in capsys.readouterr().err


def test_a_model_that_is_none_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "none.onnx"
    path.write_bytes(b"nothing")
    assert main(["kernels", str(path), "--list"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_whole_network_is_raced_once_and_what_survives_is_exported(
    capsys: pytest.CaptureFixture[str], network: str, tmp_path: Path
) -> None:
    words = [network, "--bind", "n=64", "--seconds", "0.2", "--whole", "--whole-seconds", "3"]
    found = document(capsys, *words)["network"]
    assert found["kernels"][0]["region"]["kind"] == "fusion"
    assert found["settled"]["best"].startswith(("source", "portable", "cpu"))
    labels = [one["label"] for one in found["settled"]["first"]["variants"]]
    assert (labels[0], labels[-1]) == ("source", "generated")
    again = document(capsys, *words)["network"]
    assert again["settled"]["first"]["started_at"] == found["settled"]["first"]["started_at"]
    status = main(["kernels", *words, "-o", str(tmp_path / "taken")])
    told = capsys.readouterr()
    assert f"Whole network: {found['finding']}" in told.out
    kept = found["settled"]["kept"]
    assert status == (0 if kept else 2)
    if kept:
        assert generated_names(tmp_path / "taken" / "model.onnx") == tuple(kept)
    else:
        assert "No kernel won" in told.err
        assert "left out: softmax of 3 nodes: Mul, Add, Softmax" in told.out


def test_the_whole_network_is_not_raced_where_kernels_are_only_listed(
    capsys: pytest.CaptureFixture[str], network: str
) -> None:
    assert main(["kernels", network, "--list", "--whole"]) == 2
    assert "ask for one of them" in capsys.readouterr().err


def test_all_kernels_of_a_model_are_exported_without_a_race_where_they_are_only_listed(
    capsys: pytest.CaptureFixture[str], network: str, tmp_path: Path
) -> None:
    assert main(["kernels", network, "--list", "-o", str(tmp_path / "taken")]) == 0
    assert "Wrote SHA256SUMS, kernels.so, model.h, model.onnx, run.c, run.py" in (
        capsys.readouterr().err
    )
    (name,) = generated_names(tmp_path / "taken" / "model.onnx")
    assert name.encode() in (tmp_path / "taken" / "kernels.so").read_bytes()


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_planned(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("here")
    for folder, reason in ((tmp_path, "is not empty; name another one"),
                           (tmp_path / "file", "is a file; name a folder")):  # fmt: skip
        assert main(["kernels", "none.onnx", "-o", str(folder)]) == 2
        assert reason in capsys.readouterr().err
