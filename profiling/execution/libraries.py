"""Loading what the GPU providers need before the runtime looks for it."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
from pathlib import Path
from typing import Any

TENSORRT_LIBRARIES = ("libnvinfer.so.10", "libnvinfer_plugin.so.10", "libnvonnxparser.so.10")


def preload(ort: Any, device: str) -> None:
    """Load CUDA and cuDNN, and TensorRT where it is asked for, from their wheels if installed."""
    if device == "cpu":
        return
    with contextlib.suppress(Exception):
        ort.preload_dlls()
    if device == "tensorrt":
        missing_tensorrt()


def missing_tensorrt() -> str:
    """The first TensorRT library that cannot be loaded, empty if all can; loads them."""
    for name in TENSORRT_LIBRARIES:
        if not _load(name):
            return name
    return ""


def _load(name: str) -> bool:
    for path in [name, *(str(folder / name) for folder in _wheel_folders())]:
        with contextlib.suppress(OSError):
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            return True
    return False


def _wheel_folders() -> list[Path]:
    """Where NVIDIA's wheel puts the libraries."""
    spec = importlib.util.find_spec("tensorrt_libs")
    return [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
