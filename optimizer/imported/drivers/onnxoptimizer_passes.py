"""onnxoptimizer, a pass of its at a time."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import onnx

from optimizer.errors import StudioError, quoted


def stages(model: bytes, options: Mapping[str, Any]) -> list[str]:
    """Those of its passes that change the model, in order.

    Raises:
        StudioError: there is no such pass.
    """
    tool: Any = import_module("onnxoptimizer")
    wanted = [*options["passes"]] or [*tool.get_fuse_and_elimination_passes()]
    unknown = sorted(set(wanted) - set(tool.get_available_passes()))
    if unknown:
        raise StudioError(f"it has no pass {quoted(unknown[0])}.")
    found: list[str] = []
    before = run(model, "", options)
    for name in wanted:
        after = run(before, name, options)
        if after != before:
            found.append(name)
            before = after
    return found


def run(model: bytes, stage: str, options: Mapping[str, Any]) -> bytes:
    """The model after one of its passes; after none, as it writes it down."""
    del options
    tool: Any = import_module("onnxoptimizer")
    passes = [stage] if stage else []
    made = tool.optimize(onnx.ModelProto.FromString(model), passes, fixed_point=bool(stage))
    return made.SerializeToString(deterministic=True)
