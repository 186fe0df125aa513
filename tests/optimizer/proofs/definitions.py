"""What ONNX says an operator is, where it defines it by others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import onnx
from onnx import helper


def definition(
    node: onnx.NodeProto, inputs: Sequence[tuple[int, tuple[int, ...]] | None], opset: int
) -> onnx.FunctionProto | None:
    """The function body for this node; None where ONNX has none.

    Args:
        node: an operator of ONNX's own.
        inputs: element type and shape of each input, None for those left out.
        opset: that the model imports.
    """
    schema = cast("Any", onnx.defs.get_schema(node.op_type, opset, ""))  # its stubs lack functions
    if schema.has_function:
        return schema.function_body
    if not schema.has_context_dependent_function:
        return None
    types = [
        (
            onnx.TypeProto() if one is None else helper.make_tensor_type_proto(*one)
        ).SerializeToString()
        for one in inputs
    ]
    version = max(schema.context_dependent_function_opset_versions)
    body = onnx.FunctionProto()
    body.ParseFromString(
        schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), types
        )
    )
    return body
