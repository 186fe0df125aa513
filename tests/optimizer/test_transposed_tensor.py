"""Large constants that are only transposed are not copied before they are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from optimizer.constants import equal_groups, fingerprint
from optimizer.model.placement import Placement
from optimizer.model.writer import to_bytes, write
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.stored import NewWeights, chunks_of
from optimizer.transposed_tensor import TransposedTensor
from tests.optimizer.graphs import opened

SHAPES: dict[tuple[int, ...], tuple[int, ...]] = {
    (300, 700): (1, 0),
    (2, 3, 5, 7): (0, 2, 3, 1),
    (3,): (0,),
}


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def network(*weights: np.ndarray, also: np.ndarray | None = None) -> onnx.ModelProto:
    """Products with the transposed weights, and one with a weight as it is."""
    rows, size = weights[0].shape
    lines = [
        f"t{i} = Transpose <perm = [1, 0]> (w{i})\ny{i} = MatMul (x, t{i})"
        for i in range(len(weights))
    ]
    outputs = [f"float[N, {rows}] y{i}" for i in range(len(weights))]
    if also is not None:
        lines.append("z = MatMul (x, v)")
        outputs.append(f"float[N, {rows}] z")
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>\n'
        f"g (float[N, {size}] x) => ({', '.join(outputs)}) {{\n" + "\n".join(lines) + "\n}"
    )
    named = {f"w{i}": weight for i, weight in enumerate(weights)} | (
        {} if also is None else {"v": also}
    )
    model.graph.initializer.extend(
        numpy_helper.from_array(each, name) for name, each in named.items()
    )
    return model


def weights_of(model: ir.Model) -> list[ir.TensorProtocol]:
    return [
        value.const_value
        for value in model.graph.initializers.values()
        if value.const_value is not None
    ]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_it_is_read_as_a_whole_and_in_pieces_as_a_copy_would_be(
    shape: tuple[int, ...], dtype: str
) -> None:
    array = (numbers(*shape) * 100).astype(dtype)
    tensor = TransposedTensor(ir.Tensor(array), SHAPES[shape])
    copied = np.ascontiguousarray(array.transpose(SHAPES[shape]))
    assert (tuple(tensor.shape.numpy()), tensor.dtype) == (copied.shape, ir.Tensor(copied).dtype)
    np.testing.assert_array_equal(tensor.numpy(), copied)
    assert tensor.tobytes() == b"".join(chunks_of(tensor)) == copied.tobytes()
    read = tensor.reader()
    for start, count in ((0, 1), (1, 3), (5, 64), (tensor.nbytes - 3, 3), (0, tensor.nbytes)):
        assert read(start, count) == copied.tobytes()[start : start + count]


def test_it_is_kept_without_a_copy_and_equal_to_one() -> None:
    array = numbers(300, 700)
    tensor = TransposedTensor(ir.Tensor(array), (1, 0))
    copied, other = ir.Tensor(np.ascontiguousarray(array.T)), ir.Tensor(numbers(700, 300))
    assert NewWeights().keep(tensor) is tensor
    assert fingerprint(tensor) == fingerprint(copied)
    groups = equal_groups({"deferred": tensor, "copied": copied, "other": other})
    assert list(groups) == [["deferred", "copied"]]


def test_folding_transposes_a_large_weight_without_a_copy_and_writes_it_right(
    tmp_path: Path,
) -> None:
    large, small = numbers(300, 700), numbers(3, 700)
    for weight, deferred in ((large, True), (small, False)):
        model = opened(network(weight))
        optimize(model, Pipeline.of("none", enable=["fold-constants"]))
        (kept,) = weights_of(model.ir)
        assert isinstance(kept, TransposedTensor) == deferred
        inside = onnx.load_model_from_string(to_bytes(model.ir)).graph.initializer[0]
        np.testing.assert_array_equal(numpy_helper.to_array(inside), weight.T)
        write(model.ir, tmp_path / "m.onnx", placement=Placement(side="m.data"))
        (beside,) = onnx.load(tmp_path / "m.onnx").graph.initializer
        np.testing.assert_array_equal(numpy_helper.to_array(beside), weight.T)


def test_elements_of_less_than_a_byte_are_transposed_at_once_and_packed() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[1] x) => (int4[700, 300] y, float[1] z) {
       y = Transpose <perm = [1, 0]> (w)
       z = Neg (x)
    }"""
    proto = onnx.parser.parse_model(text)
    weight = np.random.default_rng(0).integers(-8, 8, (300, 700))
    packed = onnx.helper.make_tensor("w", onnx.TensorProto.INT4, weight.shape, weight.ravel())
    proto.graph.initializer.append(packed)
    model = opened(proto)
    assert optimize(model, Pipeline.of("none", enable=["fold-constants"])).steps == 1
    (written,) = onnx.load_model_from_string(to_bytes(model.ir)).graph.initializer
    np.testing.assert_array_equal(numpy_helper.to_array(written).astype(int), weight.T)


def test_a_weight_transposed_by_folding_is_merged_with_an_equal_one() -> None:
    weight = numbers(300, 700)
    model = opened(network(weight, also=np.ascontiguousarray(weight.T)))
    passes = ["fold-constants", "merge-duplicate-initializers"]
    trace = optimize(model, Pipeline.of("none", enable=passes))
    assert [step.pass_id for step in trace.rewrites] == passes
    (kept,) = weights_of(model.ir)
    np.testing.assert_array_equal(kept.numpy(), weight.T)


def test_what_is_transposed_twice_or_computed_before_is_right() -> None:
    weight = numbers(300, 700)
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[N, 700] x) => (float[N, 300] y, float[N, 300] z) {
       n = Neg (w)
       a = Transpose <perm = [1, 0]> (n)
       b = Transpose <perm = [1, 0]> (w)
       c = Transpose <perm = [1, 0]> (b)
       d = Transpose <perm = [1, 0]> (c)
       y = MatMul (x, a)
       z = MatMul (x, d)
    }"""
    proto = onnx.parser.parse_model(text)
    proto.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    model = opened(proto)
    optimize(model, Pipeline.of("none", enable=["fold-constants"]))
    written = onnx.load_model_from_string(to_bytes(model.ir))
    arrays = {each.name: numpy_helper.to_array(each) for each in written.graph.initializer}
    read = {node.output[0]: arrays[node.input[1]] for node in written.graph.node}
    np.testing.assert_array_equal(read["y"], -weight.T)
    np.testing.assert_array_equal(read["z"], weight.T)
