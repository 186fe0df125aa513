"""On what a benchmark ran: every committed number names it."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def describe(*packages: str) -> str:
    """One line: date, processor, cores, Python, and the versions of `packages`."""
    parts = [
        date.today().isoformat(),
        _processor(),
        f"{os.cpu_count()} cores",
        f"Python {platform.python_version()}",
        *(f"{package} {_version(package)}" for package in packages),
    ]
    return ", ".join(parts)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
