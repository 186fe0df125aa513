"""`passlens layout`: what it writes, what it says, and what bad input gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from studio.cli import main


def _network(path: Path, *, opset: int = 17, channels: int | str = 20) -> Path:
    """Two convolutions with a Relu between; a pool alone where channels are free."""
    image = [1, channels, 16, 16]
    nodes = [helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1] * 4)]
    weights = np.full((20, 20, 3, 3), 0.01, np.float32)
    if isinstance(channels, int):
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["a"], pads=[1] * 4),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("Conv", ["b", "w"], ["y"], pads=[1] * 4),
        ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, image)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, image)],
        [numpy_helper.from_array(weights, "w")] if isinstance(channels, int) else [],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, path)
    return path


def _json(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return json.loads(capsys.readouterr().out)


@pytest.mark.long
@pytest.mark.parametrize("opset", [11, 17])
def test_a_network_is_written_for_a_cube_and_computes_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], opset: int
) -> None:
    path, out = _network(tmp_path / "m.onnx", opset=opset), tmp_path / "out.onnx"
    words = ["layout", str(path), "--target", "nc1hwc0", "-o", str(out), "--json"]
    assert main([*words, "--trace", str(tmp_path / "m.trace")]) == 0
    found = _json(capsys)
    assert found["schema"] == "passlens.layout/1"
    assert found["certificate"] == "exact"
    assert found["moved"] == {"Conv": 2, "Relu": 1}
    assert found["verification"]["verdict"] == "equal"
    assert [one["wanted"] for one in found["conversions"]] == ["NC1HWC0", "NCHW"]
    plain = 20 * 16 * 16 * 4
    assert found["padding"]["bytes"] == 4 * plain * 12 // 20
    operators = [node.op_type for node in onnx.load(out).graph.node]
    assert operators == ["TransData", "BlockedConv", "Relu", "BlockedConv", "TransDataBack"]
    assert main(["replay", str(tmp_path / "m.trace"), "--step", "1", "-o", str(out)]) == 0
    assert main(["verify", str(path), str(out)]) == 0


def test_the_report_says_what_is_converted_for_whom(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _network(tmp_path / "m.onnx")
    assert main(["layout", str(path), "--target", "nc1hwc0"]) == 0
    text = capsys.readouterr().out
    assert "conversion of" in text
    assert "the graph" in text
    assert "Padding: 48 KiB beside 80 KiB, 60.0%" in text


def test_free_channels_are_told_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _network(tmp_path / "m.onnx", channels="C")
    assert main(["layout", str(path), "--target", "nc1hwc0"]) == 0
    assert "number of channels is free, and blocks need a number" in capsys.readouterr().out
    assert main(["layout", str(path), "--target", "nc1hwc0", "--bind", "C=20", "--json"]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "cdua"], "There is no target 'cdua'; there are the layouts cpu, "),
        (["--target", "cpu", "--block", "12"], "no blocks of 12 channels; 'cpu' has 8 and 16"),
        (["--target", "cuda", "--block", "8"], "Target 'cuda' has no blocks of 8 channels"),
        (["--target", "cpu", "--bind", "D=1"], "D"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    path = _network(tmp_path / "m.onnx")
    assert main(["layout", str(path), *words]) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "\n" not in told


def test_a_network_is_written_with_the_operators_of_a_profile_and_what_is_left_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = _network(tmp_path / "m.onnx"), tmp_path / "out.onnx"
    profile = tmp_path / "mine.toml"
    profile.write_text('title = "Mine"\n[[operators]]\nnames = "MatMul Slice Concat Reshape Pad"')
    words = ["layout", str(path), "--target", str(profile), "-o", str(out), "--json"]
    assert main(words) == 0
    found = _json(capsys)
    assert found["schema"] == "passlens.legalisation/1"
    assert found["lowered"]["write-conv-as-matmul"] == 2
    assert [(group["operator"], group["why"]) for group in found["missing"]] == [
        ("Relu", "Mine has no Max either, which it would be written with")
    ]
    assert found["verification"]["verdict"] == "equal"
    operators = {node.op_type for node in onnx.load(out).graph.node}
    assert operators == {"Concat", "MatMul", "Pad", "Relu", "Reshape", "Slice"}
    profile.write_text('[[operators]]\nnames = "MatMull"')
    assert main(words) == 2
    assert "Line 2 of profile 'mine.toml'" in capsys.readouterr().err


def test_a_lowered_convolution_tells_the_bytes_of_its_copy_and_free_sizes_their_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "free.onnx"
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,1,8,8] x, float[1,1,3,3] w, float[1,1,A,B] u) => (float[1,1,6,6] y, float[1,1,P,Q] z)
    { y = Conv(x, w)
      z = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(u, w) }"""
    onnx.save(onnx.parser.parse_model(text), path)
    assert main(["layout", str(path), "--target", "matrix-engine"]) == 0
    told = capsys.readouterr().out
    assert (
        "Its windows become the columns of a matrix: a copy of 1.27 KiB, 5.06× its input." in told
    )
    assert "Give a size that is free in the file a number: --bind DIM=SIZE." in told
