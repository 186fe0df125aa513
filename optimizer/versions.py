"""The software that takes part in a run, for traces and records."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("passlens", "onnx", "onnx-ir", "onnxruntime-gpu", "onnxruntime", "numpy")


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Package versions by name, and Python's; packages that are not installed are left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
