"""The environment variables Passlens listens to."""

from __future__ import annotations

CACHE = "PASSLENS_CACHE"
"""Folder for what can always be made again; the platform's cache folder by default."""

LOCAL_FILES = "PASSLENS_LOCAL_FILES"
"""0 keeps visitors from opening files of the server by path."""

FIRST_MODEL = "PASSLENS_FIRST_MODEL"
"""Opened when the server starts; set by `passlens studio`."""
