"""What a file declares of its outputs stands in the file that is written, whatever is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx
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
