"""Loading what the GPU providers need before the runtime looks for it."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import sys
from pathlib import Path
from typing import Any

CUDA_LIBRARIES = (
    "libcudart.so.13", "libnvJitLink.so.13", "libcublasLt.so.13", "libcublas.so.13",
    "libnvrtc.so.13", "libcurand.so.10", "libcufft.so.12", "libcudnn.so.9",
)  # fmt: skip
"""What the CUDA provider is linked to, each after what it needs itself."""

TENSORRT_LIBRARIES = ("libnvinfer.so.10", "libnvinfer_plugin.so.10", "libnvonnxparser.so.10")


def preload(ort: Any, device: str) -> None:
    """Load CUDA and cuDNN, and TensorRT where it is asked for, from their wheels if installed.

    The runtime's own way finds wheels beside itself only; PyTorch's may lie in another folder.
    """
    if device == "cpu":
        return
    folders = _cuda_folders()
    for name in CUDA_LIBRARIES:
        _load(name, folders)
    with contextlib.suppress(Exception):
        ort.preload_dlls()
    if device == "tensorrt":
        missing_tensorrt()


def preload_cupti() -> None:
    """Load CUPTI from wherever Python imports from; its package looks in `site-packages` only."""
    _load("libcupti.so.13", _cuda_folders())


def missing_tensorrt() -> str:
    """The first TensorRT library that cannot be loaded, empty if all can; loads them."""
    folders = _tensorrt_folders()
    for name in TENSORRT_LIBRARIES:
        if not _load(name, folders):
            return name
    return ""


def _load(name: str, folders: list[Path]) -> bool:
    """Load from the first folder that has it, else from where the system looks."""
    there = [str(folder / name) for folder in folders if (folder / name).is_file()]
    for path in [*there, name]:
        with contextlib.suppress(OSError):
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            return True
    return False


def _cuda_folders() -> list[Path]:
    """Where NVIDIA's wheels put the libraries, in every folder that Python imports from."""
    parts = (("cu13", "lib"), ("cudnn", "lib"))
    places = [Path(entry, "nvidia", *part) for entry in sys.path if entry for part in parts]
    return [place for place in places if place.is_dir()]


def _tensorrt_folders() -> list[Path]:
    """Where NVIDIA's wheel puts the libraries."""
    spec = importlib.util.find_spec("tensorrt_libs")
    return [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
