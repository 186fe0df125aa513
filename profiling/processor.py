"""What this processor can do."""

from __future__ import annotations

import contextlib
from pathlib import Path


def flags() -> frozenset[str]:
    """What this processor can do, in Linux's words; empty where nobody tells."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("flags", "Features"):
                return frozenset(value.split())
    return frozenset()
