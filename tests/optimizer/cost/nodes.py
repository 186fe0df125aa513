"""Small models from ONNX's text form."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from optimizer.model.symbolic import SymbolicValues

INPUTS = """float[2, 3, 10, 10] image, float[8, 16] matrix, float[16, 4] right,
    float[4, 8, 16] batch, float[4, 16, 8] others, float[4, 3, 3, 3] dense,
    float[4, 3, 1, 1] pointwise, float[3, 1, 3, 3] depthwise, float[6, 1, 3, 3] grouped,
    float[16] row, float[8, 1] column"""


def model_of(body: str, *, opset: int = 17) -> ir.Model:
    text = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1, "my" : 1]>{body}'
    model = ir.from_proto(onnx.parser.parse_model(text))
    SymbolicValues(model).propagate(model.graph)
    return model


def node_of(call: str) -> ir.Node:
    return model_of(f"g ({INPUTS}) => (y) {{ y = {call} }}").graph[0]
