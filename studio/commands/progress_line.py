"""One line on a terminal that says what is going on; nothing where nobody watches."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Generator

from optimizer.errors import plain
from optimizer.isolation import Progress

_EVERY_S = 0.1
_SURE_AFTER_S = 2.0
"""Before that the remaining time is a guess not worth showing."""


@contextlib.contextmanager
def progress_line() -> Generator[Progress]:
    """A listener that keeps rewriting the last line of stderr, and clears it in the end."""
    stream = sys.stderr
    if not stream.isatty():
        yield lambda _text, _fraction: None
        return
    began = time.monotonic()
    shown = 0.0

    def report(text: str, fraction: float) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < _EVERY_S:
            return
        shown = now
        line = f"{fraction:4.0%}  {plain(text)}{_left(now - began, fraction)}"
        stream.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
        stream.flush()

    try:
        yield report
    finally:
        stream.write("\r\x1b[K")
        stream.flush()


def _left(elapsed_s: float, fraction: float) -> str:
    if elapsed_s < _SURE_AFTER_S or not fraction:
        return ""
    return f", {elapsed_s * (1 - fraction) / fraction:.0f} s left"
