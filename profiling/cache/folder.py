"""Where it lies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE = "PASSLENS_CACHE"
"""Folder for what can always be made again; the platform's cache folder by default."""


def cache_folder() -> Path:
    """For what can always be made again: `PASSLENS_CACHE`, or the platform's; maybe missing."""
    chosen = os.environ.get(CACHE)
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "passlens"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "passlens"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "passlens"
