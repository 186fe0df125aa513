"""The software that takes part in a run, for traces and records."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("passlens", "onnx", "onnx-ir", "onnxruntime-gpu", "onnxruntime", "numpy")


UNKNOWN = "0"
"""Version of a Passlens that is run from its source, with no package installed."""


def passlens_version() -> str:
    """Of the package in this environment."""
    return versions().get("passlens", UNKNOWN)


def tool_version(*packages: str) -> str:
    """Of the first of these packages that is installed; empty for none."""
    for package in packages:
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return ""


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
