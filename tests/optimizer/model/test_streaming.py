"""A model written in pieces is the file that protobuf would have written."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from optimizer.model import streaming
from optimizer.model.storage import store_inline
from optimizer.model.writer import model_pieces, to_proto

TEXT = """
<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1], producer_name: "p",
 producer_version: "1", domain: "d", model_version: 3, doc_string: "about",
 metadata_props: ["key" : "value"]>
g (bool c, float["n", 3] x) => (float["n", 3] y) <float["n", 3] h>
{
  h = Add(x, w)
  y = If (c) <
    then_branch = t () => (float["n", 3] p) <float[3] k = {1, 2, 3}> { p = Add(h, k) },
    else_branch = e () => (float["n", 3] q) { q = Neg(h) }
  >
}
"""


@pytest.mark.parametrize("count", [1, 40, 5000])
def test_pieces_put_together_are_what_protobuf_writes(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ir.from_proto(onnx.parser.parse_model(TEXT))
    for name in ("w", "also", "unused"):
        tensor = ir.tensor(np.arange(count, dtype=np.float32), name=name, doc_string=f"of {name}")
        tensor.metadata_props["where"] = "here"
        kind = ir.TensorType(ir.DataType.FLOAT)
        value = ir.Value(name=name, const_value=tensor, shape=ir.Shape([count]), type=kind)
        model.graph.initializers[name] = value
    whole = to_proto(model, store_inline).SerializeToString(deterministic=True)
    monkeypatch.setattr(streaming, "STREAMED_TENSOR_BYTES", 4)
    pieces = list(model_pieces(model))
    assert len(pieces) > 3
    assert b"".join(pieces) == whole
