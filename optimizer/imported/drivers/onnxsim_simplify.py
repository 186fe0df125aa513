"""onnxsim, as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import onnx


def stages(model: bytes, options: Mapping[str, Any]) -> list[str]:
    """One: it tells nothing of its parts."""
    del model, options
    return ["simplify"]


def run(model: bytes, stage: str, options: Mapping[str, Any]) -> bytes:
    """The model simplified, unchecked."""
    del stage
    tool: Any = import_module("onnxsim")
    skipped = [*options["skipped"]] or None
    made, _ = tool.simplify(onnx.ModelProto.FromString(model), skipped_optimizers=skipped)
    return made.SerializeToString()
