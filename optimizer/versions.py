"""The software that takes part in a run, for traces and records."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("passlens", "onnx", "onnx-ir", "onnxruntime-gpu", "onnxruntime", "numpy")
_INSTALLED = ".dist-info"

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
    listed = _listed()
    found = {package: listed[package] for package in PACKAGES if package in listed}
    return {"python": platform.python_version(), **found}


def _listed() -> dict[str, str]:
    """Versions of all packages by name, as the folders say that installers make.

    Those are named `<name>-<version>.dist-info`; reading what is in them takes ten times as long.
    """
    found: dict[str, str] = {}
    for place in sys.path:
        with suppress(OSError):  # an archive, or nothing at all
            for folder in os.listdir(place or "."):  # noqa: PTH208 - a Path each takes as long again
                if folder.endswith(_INSTALLED):
                    name, _, number = folder.removesuffix(_INSTALLED).rpartition("-")
                    found.setdefault(name.lower().replace("_", "-"), number)
    return found
