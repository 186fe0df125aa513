"""Where the studio keeps recordings, and which ones.

A server that visitors share (`PASSLENS_LOCAL_FILES=0`) keeps only what was measured on its own
sample networks, for everybody sees its History: an upload's name and figures stay in the session
that uploaded it. There, too, nobody may delete or import.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import URL

from optimizer.errors import StudioError
from profiling.records import Recording, Records
from studio.environment import DATABASE_URL, LOCAL_FILES
from studio.gallery import gallery

FILE = "records.sqlite"
_LOG = logging.getLogger(__name__)


def database_url() -> str | URL:
    """`PASSLENS_DATABASE_URL`, or a file in the person's data folder, which no cleaner empties."""
    return os.environ.get(DATABASE_URL) or URL.create(
        "sqlite", database=str(_data_folder() / "passlens" / FILE)
    )


def _data_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home())
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def is_shared() -> bool:
    """Whether visitors who do not know each other use this server."""
    return os.environ.get(LOCAL_FILES) == "0"


class Keeper:
    """Keeps what experiments found, and never lets an experiment fail for it.

    Attributes:
        problem: why the last recording could not be kept, for the page; empty if it was.
    """

    def __init__(self, records: Callable[[], Records], *, shared: bool) -> None:
        self.problem = ""
        self._records = records
        self._shared = shared

    def keep(self, recording: Recording) -> int | None:
        """Keep it; its id, or None if it was not or may not be kept."""
        self.problem = ""
        if self._shared and not _is_sample(recording):
            return None
        try:
            return self._records().add(recording)
        except StudioError as error:
            self.problem = error.message
        except Exception:
            _LOG.exception("a recording was not kept")
            self.problem = "This result could not be kept; the server's log says why."
        return None


def _is_sample(recording: Recording) -> bool:
    samples = {entry.sha256: (entry.id, entry.title) for entry in gallery.entries()}
    return recording.model in samples.get(recording.model_hash, ())
