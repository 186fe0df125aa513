"""onnxscript's optimizer, as a whole: folding, its default rules, clean-up."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import onnx
import onnx_ir as ir


def stages(model: bytes, options: Mapping[str, Any]) -> list[str]:
    """One: it tells nothing of its parts."""
    del model, options
    return ["optimize"]


def run(model: bytes, stage: str, options: Mapping[str, Any]) -> bytes:
    """The model optimized."""
    del stage, options
    tool: Any = import_module("onnxscript.optimizer")
    graph = ir.from_proto(onnx.ModelProto.FromString(model))
    tool.optimize(graph)
    return ir.to_proto(graph).SerializeToString()
