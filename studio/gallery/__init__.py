"""Sample networks that come with Passlens."""

from __future__ import annotations

from studio.gallery.gallery import GalleryModel, entries, find, open_path

__all__ = ["GalleryModel", "entries", "find", "open_path"]
