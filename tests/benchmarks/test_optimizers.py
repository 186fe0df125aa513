from __future__ import annotations

import json
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from benchmarks.node_counts import operators_in
from benchmarks.optimizers import known_feeds, run_once
from benchmarks.optimizers_table import ROWS, Found, Row, report
from benchmarks.peers import kind_of
from optimizer.verify import Feed

TOOLS = ["passlens", "passlens-cpu", "onnxslim", "onnxruntime-extended"]


def found(count: int, problem: str = "", *, cpu_s: float = 1.0) -> Found:
    return Found({"Add": count}, cpu_s, problem)


def test_what_does_not_agree_does_not_count_and_who_leaves_less_is_named() -> None:
    right = {"passlens": found(9), "passlens-cpu": found(8), "onnxslim": found(10)}
    rows = [
        Row(
            "wrong",
            12,
            {**right, "onnxruntime-extended": found(3, "kept/a1/optimized.onnx failed.")},
        ),
        Row("less", 12, {**right, "onnxruntime-extended": Found({"Mul": 5}, 1.0)}),
    ]
    text = "\n".join(report(rows, TOOLS))
    assert "| wrong | 12 | 9 | 8 | 10 | (3) | 1.00 | – | 1.00 |" in text
    assert "- at most the fewest nodes of all whose output agrees: 2 of 2" in text
    assert "- less: 8, onnxruntime-extended 5: Add +8, Mul −5" in text
    assert "- onnxruntime-extended, wrong: its output failed." in text


def test_an_exception_is_named_with_its_reason() -> None:
    row = Row("pub_ultraface_RFB_320", 9, {"passlens": found(5), "onnxslim": found(4)})
    text = "\n".join(report([row], TOOLS))
    assert "- pub_ultraface_RFB_320: 5, onnxslim 4: Add +1; its weights are graph inputs" in text


def test_our_time_is_a_share_of_a_peers() -> None:
    row = Row("a", 2, {"passlens": found(2, cpu_s=0.1), "onnxslim": found(2, cpu_s=1.0)})
    text = "\n".join(report([row], TOOLS))
    assert "- 0.10 of onnxslim, over 1 (at most 0.15: met)" in text


def test_a_row_is_read_as_it_was_kept() -> None:
    row = Row("a", 2, {"passlens": found(2), "onnxslim": Found(problem="more than 1 s")})
    assert ROWS.loads(ROWS.dumps(row)) == row


def test_our_output_is_run_compared_and_counted(tmp_path: Path) -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    nodes = [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    path = tmp_path / "small.onnx"
    graph = helper.make_graph(nodes, "g", [x], [y])
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opsets), path)
    made = run_once("passlens", path, seconds=300.0, feeds=None)
    assert (made.operators, made.agrees, made.compared) == ({"Relu": 1}, True, True)
    assert operators_in(path) == {"Identity": 1, "Relu": 1}


def test_feeds_of_a_manifest_are_read(tmp_path: Path) -> None:
    feeds: list[dict[str, object]] = [
        {"name": "ids", "dtype": "int64", "shape": [1, 4], "low": 0, "high": 9},
        {"name": "rate", "dtype": "int64", "shape": [], "value": 16000},
        {"name": "x", "dtype": "float32", "shape": [2], "normal": [0, 1]},
    ]
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps([{"file": "packed/net.onnx.xz", "feeds": feeds}]))
    assert known_feeds(path)["net"] == (
        Feed("ids", "int64", (1, 4), "integers", 0, 9),
        Feed("rate", "int64", (), "choice", values=(16000.0,)),
        Feed("x", "float32", (2,), "normal"),
    )


def test_transformers_is_told_what_a_network_is() -> None:
    assert kind_of("whisper_tiny_encoder_ts_op14") == "bart"
    assert kind_of("resnet50_ts_op13") == "bert"
