"""What native code prints to standard error, as text."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Generator


@contextlib.contextmanager
def captured() -> Generator[Callable[[], str]]:
    """Keep what is printed meanwhile; the function gives it, during the block or after it."""
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        said = b""

        def text() -> str:
            return said.decode("utf-8", "replace")

        try:
            yield text
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            said = file.read()
