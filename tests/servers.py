"""Which files of tests run in one process, because they share a server and its browser."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[1]


class ByServer(LoadFileScheduling):
    """By file; all that ask one server are as one file, so that it is started once."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return _server_of(file) or file


@cache
def _server_of(file: str) -> str:
    """The folder whose server the tests of a file ask; empty for none."""
    folder = "/".join(file.split("/")[:2])
    if folder == "tests/studio" and "app_url" not in (ROOT / file).read_text(encoding="utf-8"):
        return ""
    return folder if folder in ("tests/studio", "tests/viewer") else ""
