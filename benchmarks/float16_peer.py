"""What the float16 benchmark has a worker do."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import onnx

from optimizer.errors import StudioError


def convert_by_peer(source: Path, target: Path) -> None:
    """A file in float16 by onnxconverter-common, inputs and outputs as they are.

    Raises:
        StudioError: it fails.
    """
    common: Any = import_module("onnxconverter_common.float16")  # it has no types
    try:
        converted = common.convert_float_to_float16(
            onnx.load(source), keep_io_types=True, disable_shape_infer=False
        )
        onnx.save(converted, target)
    except Exception as error:
        raise StudioError(f"fails: {type(error).__name__}") from error
