from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from studio.cli import main

NETWORK = """<ir_version: 8, opset_import: ["" : 17]>
main (float[4, 8] x) => (float[4, 8] y)
<float hundred = {100}, float thousand = {1000}, float little = {0.00001}>
{
   first = Identity (x)
   h = MatMul (first, w)
   m = Mul (h, hundred)
   large = Mul (m, thousand)
   small = Mul (large, little)
   y = MatMul (small, w)
}"""
ENABLED = ["--preset", "none", "--enable", "eliminate-identity", "--enable", "convert-to-float16"]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    proto = onnx.parser.parse_model(NETWORK)
    matrix = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(matrix, "w"))
    path = tmp_path / "network.onnx"
    onnx.save(proto, path)
    return path


def test_what_overflows_is_found_beforehand_named_and_kept(
    network: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = network.with_name("out.onnx")
    assert main(["optimize", str(network), "-o", str(out), *ENABLED, "--json"]) == 0
    said = capsys.readouterr()
    assert "stays float32: it gives 'large', which reaches" in said.err
    report = json.loads(said.out)
    (options,) = (p["options"] for p in report["pipeline"]["passes"] if p["options"])
    assert options["keep"] == ["n3", "n4"]  # as the source counts them, with its Identity
    assert report["verification"]["verdict"] == "within"
    kinds = {tensor.name: tensor.data_type for tensor in onnx.load(out).graph.initializer}
    assert kinds["w_float16"] == onnx.TensorProto.FLOAT16
    assert kinds["thousand"] == onnx.TensorProto.FLOAT


def test_a_list_that_is_given_is_taken_and_its_error_told(
    network: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["optimize", str(network), "-o", str(network.with_name("out.onnx")), *ENABLED]
    assert main([*words, "--option", "convert-to-float16.keep=n1"]) == 1
    assert "Beyond the budget of 1 %" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("format=bfloat16", "is no option; write PASS.NAME=VALUE"),
        ("fuse-gemm.x=1", "does not run; switch it on with --enable"),
        ("convert-to-float16.bits=16", "has no option 'bits'; it has: format, keep, io"),
        ("convert-to-float16.format=half", "There is no 16-bit format 'half'"),
    ],
)
def test_an_option_that_is_none_is_refused_with_one_line(
    network: Path, word: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["optimize", str(network), "-o", str(network.with_name("out.onnx")), *ENABLED]
    assert main([*words, "--option", word]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1
