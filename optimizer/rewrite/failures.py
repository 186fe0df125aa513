"""How an error is told: its type and message, and the line of the rule that led to it."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path

from optimizer.errors import ToolError, quoted


def told(error: Exception, function: Callable[..., object]) -> str:
    """Type and message of an error, and the last line of the rule's own file that led to it.

    What went wrong in a foreign tool is a sentence already.
    """
    if isinstance(error, ToolError):
        return error.message
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame
        for frame in frames
        if frame.filename == inspect.getsourcefile(inspect.unwrap(function))
    ]
    at = (own or frames)[-1]
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"{quoted(text, limit=200)[1:-1]} ({Path(at.filename).name}, line {at.lineno})"
