"""Sample networks that come with Passlens."""

from __future__ import annotations

from studio.gallery.gallery import entries, find, open_path
from studio.gallery.table import GalleryModel

__all__ = ["GalleryModel", "entries", "find", "open_path"]
