from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from optimizer.model.writer import to_bytes
from optimizer.passes.precision.convert_to_float16 import ConvertToFloat16
from optimizer.pipeline import Pipeline
from optimizer.precision.emulation import emulated
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.running import run

OVERFLOW = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {300, 0, 0, 1}, float[2,2] v = {0.001, 0, 0, 1}>
{
   a = MatMul(x, w)
   y = MatMul(a, v)
}
"""


def converted(text: str, **options: object) -> ir.Model:
    model = opened(text)
    trace = optimize(model, Pipeline((ConvertToFloat16(**options),)))  # pyright: ignore[reportArgumentType] - options by name
    assert not trace.failed
    return model.ir


def outputs(model: ir.Model, **feeds: object) -> list[np.ndarray]:
    names = {
        n: np.asarray(a, None if np.asarray(a).dtype == bool else np.float32)
        for n, a in feeds.items()
    }
    return run(proto_of(model), names)


def test_a_cpu_hides_an_overflow_that_the_emulation_shows() -> None:
    model = converted(OVERFLOW)
    assert np.allclose(outputs(model, x=[[300, 2]])[0], [[90, 2]], rtol=1e-2)
    assert np.isinf(outputs(emulated(model), x=[[300, 2]])[0][0, 0])


def test_bfloat16_is_run_by_emulation_and_reaches_as_far_as_float32() -> None:
    model = converted(OVERFLOW, format="bfloat16")
    assert [node.op_type for node in model.graph] == ["Cast", "MatMul", "MatMul", "Cast"]
    found = outputs(emulated(model), x=[[300, 1.01]])[0]
    assert np.allclose(found, [[90, 1.01]], rtol=1e-2)
    assert found[0, 1] == np.float32(1.0078125)  # 8 bits of precision


def test_the_model_that_is_emulated_is_left_as_it_is() -> None:
    model = converted(OVERFLOW)
    before = [(node.op_type, node.outputs[0].dtype) for node in model.graph]
    emulated(model)
    assert [(node.op_type, node.outputs[0].dtype) for node in model.graph] == before


@pytest.mark.parametrize("form", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "masked",
    [
        "left = Where(hidden, nothing, scores)",
        "h = Cast<to = 1>(hidden) m = Mul(h, nothing) left = Add(scores, m)",
        "h = Cast<to = 1>(hidden) m = Mul(h, nothing) twice = Add(m, m) left = Add(scores, twice)",
    ],
)
def test_a_row_of_which_all_is_masked_stays_a_row_of_numbers(masked: str, form: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,2] q, float[2,2] k, bool[2,2] hidden) => (float[2,2] y)
    <float nothing = {{-1e38}}>
    {{ scores = MatMul(q, k) {masked} shares = Softmax(left) y = MatMul(shares, k) }}"""
    model = emulated(converted(text, format=form))
    found = outputs(
        model, q=[[1, 2], [3, 4]], k=[[5, -60], [-70, 8]], hidden=[[True, True], [True, False]]
    )
    assert np.isfinite(found[0]).all()
    assert np.allclose(found[0][1], [-70, 8], rtol=1e-2)


def test_inputs_and_outputs_take_16_bits_if_they_should_and_are_undone_by_the_trace() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,2] x) => (float[2,2] y, float[2,2] z) <float[2,2] w = {1, 2, 3, 4}>
    { y = MatMul(x, w) z = Exp(x) }"""
    source = opened(text)
    before = to_bytes(source.ir)
    trace = optimize(source, Pipeline((ConvertToFloat16(io=True),)))
    model = source.ir
    kinds = {v.name: v.dtype for v in (*model.graph.inputs, *model.graph.outputs)}
    half = ir.DataType.FLOAT16
    assert kinds == {"x": half, "y": half, "z": ir.DataType.FLOAT}
    onnx.checker.check_model(proto_of(model), full_check=True)
    x = np.array([[1, 2], [0.5, 1]], np.float16)
    expected = [x @ np.array([[1, 2], [3, 4]]), np.exp(x)]
    for found, wanted in zip(run(proto_of(model), {"x": x}), expected, strict=True):
        assert np.allclose(found, wanted, rtol=1e-2)
    restored = emulated(model, as_float32={"x", "y", "z"})
    for found, wanted in zip(outputs(restored, x=x), expected, strict=True):
        assert found.dtype == np.float32
        assert np.allclose(found, wanted, rtol=1e-2)
    assert to_bytes(Cursor.at_end(trace).seek(0)) == before
