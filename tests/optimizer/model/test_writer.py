"""The writer: same model, same bytes; nothing lost, nothing of ours leaked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from optimizer.errors import LimitError, StudioError
from optimizer.model import writer
from optimizer.model.graph import identify
from optimizer.model.writer import to_bytes, write

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float["n", 3] x) => (float["n", 2] y)
<float[3, 2] w = {1, 2, 3, 4, 5, 6}, float[2] b = {1, 2}, float["n", 2] h>
{
  h = MatMul(x, w)
  y = Add(h, b)
}
"""


def model_of(text: str) -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(text))


def read(data: bytes) -> ir.Model:
    return ir.from_proto(onnx.load_from_string(data))


def test_writing_what_was_written_gives_the_same_bytes() -> None:
    data = to_bytes(model_of(TEXT))
    assert to_bytes(read(data)) == data
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)


def test_the_order_of_initializers_does_not_depend_on_history() -> None:
    model = model_of(TEXT)
    expected = to_bytes(model)
    weight = model.graph.initializers.pop("b")
    model.graph.initializers["b"] = model.graph.initializers.pop("w") and weight
    model.graph.initializers["w"] = model_of(TEXT).graph.initializers.pop("w")
    assert list(model.graph.initializers) == ["b", "w"]
    assert [t.name for t in onnx.load_from_string(expected).graph.initializer] == ["b", "w"]
    assert to_bytes(model) == expected


def test_ids_are_not_written() -> None:
    model = model_of(TEXT)
    expected = to_bytes(model)
    identify(model)
    assert to_bytes(model) == expected


def test_every_typed_intermediate_value_is_described_in_node_order() -> None:
    model = model_of(TEXT)
    graph = onnx.load_from_string(to_bytes(model)).graph
    assert [value.name for value in graph.value_info] == ["h"]
    assert graph.value_info[0].type.tensor_type.shape.dim[0].dim_param == "n"


@pytest.mark.parametrize("few", [1, 2])
def test_computed_sizes_inside_are_written_for_graphs_of_many_nodes_alone(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(writer, "FEW_NODES", few)
    graph = onnx.load_from_string(to_bytes(model_of(TEXT.replace('"n"', '"2*n"')))).graph
    sizes = [
        [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in (graph.input[0], graph.value_info[0], graph.output[0])
    ]
    assert sizes == [["2*n", 3], ["2*n" if few == 1 else 0, 2], ["2*n", 2]]


def test_a_tensor_shared_by_two_initializers_is_written_under_both_names() -> None:
    model = model_of(TEXT)
    tensor = ir.tensor(np.ones(2, np.float32), name="b")
    model.graph.initializers["b"].const_value = tensor
    twin = ir.Value(name="a", const_value=tensor, shape=ir.Shape([2]), type=tensor_type())
    model.graph.initializers["a"] = twin
    names = [t.name for t in onnx.load_from_string(to_bytes(model)).graph.initializer]
    assert names == ["a", "b", "w"]
    assert tensor.name == "b"


def tensor_type() -> ir.TensorType:
    return ir.TensorType(ir.DataType.FLOAT)


def test_typed_fields_and_raw_bytes_are_written_alike() -> None:
    typed = onnx.parser.parse_model(TEXT)
    raw = onnx.parser.parse_model(TEXT)
    for tensor in raw.graph.initializer:
        tensor.raw_data = onnx.numpy_helper.to_array(tensor).tobytes()
        tensor.ClearField("float_data")
    assert to_bytes(ir.from_proto(typed)) == to_bytes(ir.from_proto(raw))


@pytest.mark.parametrize(("given", "written"), [(3, 4), (8, 8), (13, 13), (14, 13)])
def test_ir_version_is_what_the_runtime_reads_and_the_features_need(
    given: int, written: int
) -> None:
    model = model_of(TEXT)
    model.ir_version = given
    assert onnx.load_from_string(to_bytes(model)).ir_version == written


def test_bodies_and_their_initializers_survive() -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    g (bool c, float[2] x) => (float[2] y)
    {
      y = If (c) <
        then_branch = t () => (float[2] p) <float[2] k = {1, 2}> { p = Add(x, k) },
        else_branch = e () => (float[2] q) { q = Neg(x) }
      >
    }
    """
    data = to_bytes(model_of(text))
    assert to_bytes(read(data)) == data
    branch = onnx.load_from_string(data).graph.node[0].attribute[0].g
    assert [tensor.name for tensor in branch.initializer] == ["k"]
    onnx.checker.check_model(onnx.load_from_string(data))


def test_large_weights_go_to_a_file_beside_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(TEXT)
    for name in ("big", "also"):
        tensor = ir.tensor(np.arange(300, dtype=np.float32), name=name)
        value = ir.Value(name=name, const_value=tensor, shape=ir.Shape([300]), type=tensor_type())
        model.graph.initializers[name] = value
    write(model, tmp_path / "m.onnx", inline_bytes=2000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "m.onnx.data"]
    loaded = onnx.load(tmp_path / "m.onnx")
    by_name = {t.name: onnx.numpy_helper.to_array(t) for t in loaded.graph.initializer}
    np.testing.assert_array_equal(by_name["big"], np.arange(300, dtype=np.float32))
    np.testing.assert_array_equal(by_name["b"], [1, 2])
    with monkeypatch.context() as small:
        small.setattr(writer, "INLINE_BYTES", 2000)
        with pytest.raises(LimitError, match="data file beside it"):
            to_bytes(model)
    inlined = to_bytes(ir.load(tmp_path / "m.onnx"))
    assert to_bytes(read(inlined)) == inlined
    tensor = onnx.load_from_string(inlined).graph.initializer[0]
    assert tensor.raw_data
    assert tensor.data_location == onnx.TensorProto.DEFAULT


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"Cannot write .* Choose a folder"):
        write(model_of(TEXT), tmp_path / "missing" / "m.onnx")
