"""A large file is loaded without its weights, which are read where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from optimizer.model import loader, outline
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.outline import outlined
from optimizer.model.writer import to_bytes
from optimizer.stored import StoredTensor

WIDE = 200


def model(*extra: TensorProto) -> onnx.ModelProto:
    weights = np.random.default_rng(0).normal(size=(WIDE, WIDE)).astype(np.float32)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDE]) for name in "xy")
    small = numpy_helper.from_array(weights[0], "b")
    tensors = [numpy_helper.from_array(weights, "w"), small, *extra]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Add", ["h", "b"], "y"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def without_weights(data: bytes) -> bytes | None:
    return outlined(lambda start, count: data[start : start + count], len(data), "here")


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (loader, outline):
        monkeypatch.setattr(module, "OUTLINED_FILE_BYTES", 1)


@pytest.mark.usefixtures("large")
def test_a_model_loaded_without_its_weights_is_the_same_model(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    data = model().SerializeToString()
    path.write_bytes(data)
    loaded = load_path(path)
    weight = loaded.ir.graph.initializers["w"].const_value
    assert isinstance(weight, StoredTensor)
    assert not isinstance(loaded.ir.graph.initializers["b"].const_value, StoredTensor)
    assert loaded.digest == (whole := load_bytes(data, name="m.onnx")).digest
    assert to_bytes(loaded.ir) == to_bytes(whole.ir)


@pytest.mark.usefixtures("large")
def test_a_model_keeps_its_weights_when_another_file_takes_its_name(tmp_path: Path) -> None:
    path, other = tmp_path / "m.onnx", tmp_path / "other"
    path.write_bytes(model().SerializeToString())
    loaded = load_path(path)
    expected = to_bytes(loaded.ir)
    other.write_bytes(b"something else")
    other.replace(path)
    assert to_bytes(loaded.ir) == expected


def test_only_plain_raw_data_is_left_in_the_file() -> None:
    typed = helper.make_tensor("t", TensorProto.FLOAT, [WIDE, WIDE], [0.5] * WIDE * WIDE)
    short = TensorProto(name="s", data_type=TensorProto.FLOAT, dims=[WIDE, WIDE])
    short.raw_data = bytes(4 * WIDE * WIDE - 1)
    data = without_weights(model(typed, short).SerializeToString())
    assert data is not None
    tensors = {t.name: t for t in onnx.load_from_string(data).graph.initializer}
    inside = [name for name, t in tensors.items() if t.data_location != TensorProto.EXTERNAL]
    assert inside == ["b", "t", "s"]
    assert not tensors["w"].HasField("raw_data")


def test_a_tensor_that_says_its_data_is_inside_is_left_in_the_file_too() -> None:
    whole = model()
    whole.graph.initializer[0].data_location = TensorProto.DEFAULT
    data = without_weights(whole.SerializeToString())
    assert data is not None
    weight = onnx.load_from_string(data).graph.initializer[0]
    assert weight.data_location == TensorProto.EXTERNAL
    assert not weight.HasField("raw_data")


@pytest.mark.parametrize("cut", [1, 1000, 100_000])
def test_a_damaged_file_is_left_to_who_reads_all_of_it(cut: int) -> None:
    data = model().SerializeToString()
    assert without_weights(data[:-cut]) is None
    assert without_weights(data + data) is None
