"""The smallest models that can race."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser

_RELU = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[4, 8] x) => (float[4, 8] y) {
   y = Relu (x)
}
"""


def relu() -> bytes:
    return onnx.parser.parse_model(_RELU).SerializeToString()


def with_weights_beside(folder: Path) -> Path:
    folder.mkdir(parents=True)
    model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
main (float[2] x) => (float[2] y) <float[2] w = {3, 4}> {
   y = Mul (x, w)
}
""")
    (folder / "w.data").write_bytes(np.array([3, 4], np.float32).tobytes())
    (weight,) = model.graph.initializer
    for field in ("float_data", "raw_data"):
        weight.ClearField(field)
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="w.data")
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path
