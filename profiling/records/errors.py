"""What can go wrong with recordings.

StudioError
└── RecordsError             one clear sentence
    ├── DatabaseRefused      cannot be reached, read or written, or is newer than this version
    └── BundleRefused        a file or an entry of it is no recording
"""

from __future__ import annotations

from optimizer.errors import StudioError


class RecordsError(StudioError):
    """Recordings cannot be kept, found or opened."""


class DatabaseRefused(RecordsError):
    """The database cannot be reached, read or written, or is newer than this version."""


class BundleRefused(RecordsError):
    """A file or an entry of it is no recording."""
