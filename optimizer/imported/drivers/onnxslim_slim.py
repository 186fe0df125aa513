"""onnxslim, as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import onnx


def stages(model: bytes, options: Mapping[str, Any]) -> list[str]:
    """One: it tells nothing of its parts."""
    del model, options
    return ["slim"]


def run(model: bytes, stage: str, options: Mapping[str, Any]) -> bytes:
    """The model slimmed."""
    del stage
    tool: Any = import_module("onnxslim")
    made = tool.slim(
        onnx.ModelProto.FromString(model),
        skip_fusion_patterns=[*options["skipped"]] or None,
        no_shape_infer=not options["infer_shapes"],
    )
    return made.SerializeToString()
