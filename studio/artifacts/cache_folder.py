"""Where the studio keeps what it can always make again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from studio.environment import CACHE


def cache_folder() -> Path:
    """`PASSLENS_CACHE`, or the platform's cache folder; not necessarily there yet."""
    chosen = os.environ.get(CACHE)
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "passlens"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "passlens"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "passlens"
