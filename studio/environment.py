"""The environment variables Passlens listens to, and the cache folder they lead to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE = "PASSLENS_CACHE"
"""Folder for what can always be made again; the platform's cache folder by default."""

LOCAL_FILES = "PASSLENS_LOCAL_FILES"
"""0 keeps visitors from opening files of the server by path."""

DATABASE_URL = "PASSLENS_DATABASE_URL"
"""Where recordings are kept: sqlite:///path or postgresql://…; a file of one's own by default."""

FIRST_MODEL = "PASSLENS_FIRST_MODEL"
"""Opened when the server starts; set by `passlens studio`."""

CACHE_LIMIT = "PASSLENS_CACHE_GIB"
"""How large the cache may grow, in GiB; what was not used for longest goes first."""


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
