"""The environment variables the studio listens to; that of the cache is in `profiling.cache`."""

from __future__ import annotations

LOCAL_FILES = "PASSLENS_LOCAL_FILES"
"""0 keeps visitors from opening files of the server by path."""

DATABASE_URL = "PASSLENS_DATABASE_URL"
"""Where recordings are kept: sqlite:///path or postgresql://…; a file of one's own by default."""

FIRST_MODEL = "PASSLENS_FIRST_MODEL"
"""Opened when the server starts; set by `passlens studio`."""

CACHE_LIMIT = "PASSLENS_CACHE_GIB"
"""How large the cache may grow, in GiB; what was not used for longest goes first."""
