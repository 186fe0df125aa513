from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import onnx
import pytest

from optimizer.memory.intervals import read_intervals
from optimizer.memory.plan import check_plan
from optimizer.memory.registry import planners
from studio.cli import main

CHAIN = """<ir_version: 8, opset_import: ["" : 17]>
main (float[16] x) => (float[16] y) {
   a = Relu (x)
   b = Sigmoid (a)
   c = Add (a, b)
   d = Reshape <allowzero = 0> (c, shape)
   y = Neg (d)
}"""

FREE = """<ir_version: 8, opset_import: ["" : 17]>
main (float[batch, seq] x) => (float[batch, seq] y) {
   a = Relu (x)
   y = Neg (a)
}"""

BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
main (float[16] x, bool c) => (float[16] y) {
   a = Relu (x)
   b = If (c) <
      then_branch = small () => (float[16] t) { s = Neg (a)  t = Abs (s) },
      else_branch = large () => (float[16] e) {
         p = Concat <axis = 0> (a, a, a, a)
         q = ReduceSum <keepdims = 1> (p)
         e = Mul (a, q)
      }
   >
   y = Neg (b)
}"""

DATA = """<ir_version: 8, opset_import: ["" : 17]>
main (float[16] x) => (int64[1, n] y) {
   a = NonZero (x)
   y = Neg (a)
}"""

WIDE = """<ir_version: 8, opset_import: ["" : 17]>
main (float[16] x) => (float[1] y) {
   a = Concat <axis = 0> (x, x, x, x)
   b = Concat <axis = 0> (x, x, x, x, x)
   c = ReduceSum <keepdims = 1> (a)
   d = ReduceSum <keepdims = 1> (b)
   y = Sub (c, d)
}"""

FIVE = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n"


@pytest.fixture
def five(tmp_path: Path) -> Path:
    path = tmp_path / "five.csv"
    path.write_text(FIVE)
    return path


def saved(folder: Path, text: str, *, name: str = "model.onnx") -> Path:
    path = folder / name
    model = onnx.parser.parse_model(text)
    if "shape)" in text:
        model.graph.initializer.append(
            onnx.helper.make_tensor("shape", onnx.TensorProto.INT64, [1], [16])
        )
    onnx.save(model, path)
    return path


def report(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert main(["plan", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_intervals_are_planned_by_all_planners(
    five: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(capsys, five)
    assert found["schema"] == "passlens.plan/1"
    assert [plan["planner"] for plan in found["plans"]] == [known.id for known in planners()]
    peaks = {plan["planner"]: plan["peak_bytes"] for plan in found["plans"]}
    assert (peaks["naive"], peaks["best"], found["bound_bytes"]) == (20, 12, 12)
    assert found["need_bytes"] == 12
    assert found["floor_bytes"] is None


def test_the_table_names_planners_bound_and_certificate(
    five: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(five), "--planner", "best"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["five.csv:", "5", "buffers,", "most", "alive", "at", "step", "0"]
    assert lines[2][:7] == ["best", "12", "12", "B", "1.000", "meets", "the"]
    assert lines[4][:2] == ["bound", "12"]
    assert not any(line[:1] == ["floor"] for line in lines)


def test_offsets_are_written_beside_the_intervals_and_are_valid(five: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert main(["plan", str(five), "-o", str(out)]) == 0
    buffers = read_intervals(out)
    assert buffers == read_intervals(five)
    offsets = [int(row["offset"]) for row in csv.DictReader(out.read_text().splitlines())]
    check_plan(buffers, offsets)
    assert max(offsets) == 8


def test_capacity_decides_the_exit_status(five: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys, five, "--capacity", "12")["fits"] is True
    assert main(["plan", str(five), "--capacity", "11", "--seconds", "0.05", "--json"]) == 1
    caught = capsys.readouterr()
    assert json.loads(caught.out)["fits"] is False
    assert "needs 12 bytes, 11 is the capacity" in caught.err
    assert main(["plan", str(five), "--capacity", "1KiB"]) == 0


def test_alignment_rounds_intervals_up(five: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys, five, "--alignment", "64")["bound_bytes"] == 3 * 64


def test_activations_of_a_model_are_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path, CHAIN)
    found = report(capsys, model)
    # a is read again by c, so that b has bytes of its own; c, d and either of them share
    assert (found["nodes"], found["buffers"], found["bound_bytes"]) == (5, 2, 128)
    assert (found["alignment"], found["views"], found["in_place"]) == (64, True, True)
    assert found["regions"] == {"weights": 64, "inputs_and_outputs": 128, "activations": 128}
    alone = report(capsys, model, "--no-views", "--no-in-place", "--alignment", "256")
    assert (alone["buffers"], alone["bound_bytes"]) == (4, 3 * 256)


def test_offsets_of_a_model_have_the_names_of_its_values(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    model = saved(tmp_path, CHAIN)
    assert main(["plan", str(model), "--no-views", "--no-in-place", "-o", str(out)]) == 0
    assert [row["id"] for row in csv.DictReader(out.read_text().splitlines())] == [
        "a",
        "b",
        "c",
        "d",
    ]


def test_another_order_of_the_nodes_has_another_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path, WIDE)
    in_file = report(capsys, model)
    assert (in_file["order"], in_file["bound_bytes"]) == ("file", 256 + 320 + 64)
    # the larger one is summed up before the other is made
    assert report(capsys, model, "--order", "exact")["bound_bytes"] == 320 + 64


def test_free_dimensions_have_to_be_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path, FREE)
    assert main(["plan", str(model)]) == 2
    assert "settle --bind batch=SIZE --bind seq=SIZE" in capsys.readouterr().err
    found = report(capsys, model, "--bind", "batch=2", "--bind", "seq=32")
    assert found["bound_bytes"] == 2 * 32 * 4
    assert found["bindings"] == {"batch": 2, "seq": 32}


def test_a_size_that_depends_on_the_data_cannot_be_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path, DATA)
    assert main(["plan", str(model)]) == 2
    assert "1 value has no known size" in (error := capsys.readouterr().err)
    assert "--bind" not in error


def test_a_model_without_activations_needs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path, FREE.replace("a = Relu (x)", "").replace("Neg (a)", "Neg (x)"))
    assert main(["plan", str(model)]) == 0
    assert "model.onnx: 1 node, 0 buffers\n" in capsys.readouterr().out


def test_bodies_are_planned_and_the_largest_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path, BRANCHES)
    found = report(capsys, model)
    bodies = {body["need_bytes"] for body in found["bodies"]}
    assert len(found["bodies"]) == 2
    assert found["need_bytes"] == found["bound_bytes"] + max(bodies)
    assert main(["plan", str(model), "--capacity", str(found["bound_bytes"])]) == 1
    out = capsys.readouterr().out
    assert out.count("Body of If ") == 2
    assert "With the largest body on top" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--planner", "clever"], "no planner 'clever'"),
        (["--alignment", "0"], "--alignment must be from 1"),
        (["--seconds", "nan"], "--seconds must be above 0"),
        (["--seconds", "-1"], "--seconds must be above 0"),
        (["--capacity", "1e6"], "--capacity takes"),
        (["--capacity", "-1"], "--capacity takes"),
        (["--bind", "batch=1"], "are for models"),
        (["--order", "exact"], "are for models"),
        (["--no-views"], "are for models"),
        (["-o", "/nowhere/out.csv"], "'out.csv' cannot be written"),
    ],
)
def test_senseless_arguments_are_answered_in_one_line(
    five: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    joined = [f"{arguments[0]}={arguments[1]}"] if len(arguments) == 2 else arguments
    if arguments[0] == "-o":
        joined = arguments
    assert main(["plan", str(five), "--seconds", "0.05", *joined]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_bad_intervals_are_answered_with_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.CSV"
    path.write_text("id,lower,upper,size\na,0,1,1\nb,5,5,1\n")
    assert main(["plan", str(path)]) == 2
    assert "Line 3" in capsys.readouterr().err
    assert main(["plan", str(tmp_path / "none.csv")]) == 2
    assert "'none.csv' cannot be read" in capsys.readouterr().err


def test_a_name_from_a_model_cannot_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path, BRANCHES)
    proto = onnx.load(model)
    proto.graph.node[1].name = "odd\x1b[31m"
    onnx.save(proto, model)
    assert main(["plan", str(model)]) == 0
    assert "\x1b" not in capsys.readouterr().out
