"""The measuring workers of this test process, and of no other on the machine."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path


def own_workers() -> list[int]:
    """Those with an interpreter of their own, in the order in which they were started."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if (
                entry.name.isdigit()
                and b"workers.worker import main" in (entry / "cmdline").read_bytes()
                and _parent(_parent(int(entry.name))) == os.getpid()
            ):
                found.append(int(entry.name))
    return sorted(found)


def killing(moment: str, *numbers: int) -> Callable[[str, float], None]:
    """A listener that kills the race's workers of those numbers at that moment."""
    before = set(own_workers())

    def listen(text: str, _fraction: float) -> None:
        if text == moment:
            mine = [pid for pid in own_workers() if pid not in before]
            for number in numbers:
                os.kill(mine[number], signal.SIGKILL)

    return listen


def _parent(pid: int) -> int:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    return int(after_name.split()[1])
