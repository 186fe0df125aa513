"""What a file declares of its outputs stands in the file that is written, whatever is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import passlens
from optimizer.model.binding import bind_dimensions
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from tests.optimizer.graphs import opened, parsed, proto_of

Dims = list[int | str | None]

BYPASSED = """
<ir_version: 8, opset_import: ["" : 18]>
g (float[B, S] x, int64[2] s) => (float[6, 1] y, float[2, 3] z, int64[2, N] n) {
  a = Reshape(x, s)
  y = Identity(a)
  b = Relu(x)
  z = Identity(b)
  c = NonZero(x)
  n = Identity(c)
}
"""
NAMED = """
<ir_version: 8, opset_import: ["" : 18]>
g (float[B, P] a, float[B, T] b, float[1, 4] c)
  => (float[B, PT] y, float[h, v] z, float[?, 4] u, float[B, P] w, float scalar, float[] r) {
  y = Concat <axis = 1> (a, b)
  z = Relu (c)
  u = Exp (c)
  w = Relu (a)
  scalar = ReduceSum <keepdims = 0> (a)
  r = Neg (a)
}
"""

HIDDEN = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 3] x, float[2, 3] z) => (float[CLAIM] y) {
  s = Shape(x)
  twice = Add(s, s)
  once = Sub(twice, s)
  a = Reshape(z, once)
  r = Relu(a)
  y = Identity(r)
}
"""


def declared(proto: onnx.ModelProto) -> Mapping[str, Dims | None]:
    """What is said of the sizes of each output."""
    said: dict[str, Dims | None] = {}
    for value in proto.graph.output:
        tensor = value.type.tensor_type
        dims: Dims = [
            dim.dim_param or (dim.dim_value if dim.HasField("dim_value") else None)
            for dim in tensor.shape.dim
        ]
        said[value.name] = dims if tensor.HasField("shape") else None
    return said


@pytest.mark.parametrize("preset", ["none", "portable"])
@pytest.mark.parametrize("text", [BYPASSED, NAMED])
def test_declared_sizes_of_outputs_are_as_they_were(text: str, preset: str, tmp_path: Path) -> None:
    proto = parsed(text)
    onnx.save(proto, tmp_path / "model.onnx")
    trace = passlens.optimize(passlens.open_model(tmp_path / "model.onnx"), Pipeline.of(preset))
    passlens.export(trace, tmp_path / "written.onnx")
    said, written = declared(proto), declared(onnx.load_model(tmp_path / "written.onnx"))
    for name, dims in said.items():
        if dims is not None and None not in dims:
            assert written[name] == dims
    fired = [rewrite.pass_id for rewrite in trace.rewrites]
    assert fired == (["eliminate-identity"] * 3 if (text, preset) == (BYPASSED, "portable") else [])


def test_what_a_file_leaves_open_is_told() -> None:
    model = opened(NAMED)
    written = declared(proto_of(model.ir))
    assert (written["u"], written["r"], written["scalar"]) == ([1, 4], ["B", "P"], [])


def test_a_binding_ends_what_names_stood_for_and_no_number() -> None:
    model = load_bytes(parsed(NAMED).SerializeToString(), name="named").ir
    bind_dimensions(model, {"B": 2, "P": 3})
    written = declared(onnx.load_model_from_string(to_bytes(model)))
    assert written["w"] == [2, 3]
    assert written["u"] == [None, 4]


@pytest.mark.parametrize("claim", ["7, 3", "6", "a, b, c"])
def test_a_wrong_claim_that_passes_lay_open_is_told_when_the_written_file_is_opened(
    claim: str, tmp_path: Path
) -> None:
    proto = parsed(HIDDEN.replace("CLAIM", claim))
    onnx.save(proto, tmp_path / "model.onnx")
    trace = passlens.optimize(passlens.open_model(tmp_path / "model.onnx"), Pipeline.of("portable"))
    passlens.export(trace, tmp_path / "written.onnx")
    again = passlens.open_model(tmp_path / "written.onnx")
    assert "computed as [2,3]" in " ".join(map(str, again.findings))
    assert declared(onnx.load_model(tmp_path / "written.onnx")) == declared(proto)
    feeds = {name: np.full((2, 3), -1.0, np.float32) for name in "xz"}
    session = onnxruntime.InferenceSession(str(tmp_path / "written.onnx"))
    np.testing.assert_array_equal(np.asarray(session.run(None, feeds)[0]), np.zeros((2, 3)))
