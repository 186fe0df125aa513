"""Which files a model is made of, and the names that equal ones have in the store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from optimizer.errors import StudioError, quoted
from optimizer.numbers import counted

FORMAT = "2"
"""Part of every key: raised when the files' meaning changes."""


def key_of(*parts: object) -> str:
    """Sixteen hex digits: equal parts, equal keys."""
    text = json.dumps([FORMAT, *parts], sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def side_files(path: Path) -> Iterator[Path]:
    """Files that may hold the model's weights: their change must be noticed."""
    for other in path.parent.glob("*"):
        if other.suffix in {".data", ".bin", ".weights"} and other.is_file():
            yield other


def looks_like_a_model(name: str) -> bool:
    """By a file's name."""
    return name.lower().endswith(".onnx")


def model_among(files: Iterable[str]) -> str:
    """Which of several uploaded files is the model.

    Raises:
        StudioError: none or several could be.
    """
    names = list(files)
    models = [name for name in names if looks_like_a_model(name)]
    if len(names) == 1:
        return names[0]
    if len(models) == 1:
        return models[0]
    if not models:
        raise StudioError("None of these files ends in '.onnx'; add the model itself.")
    shown = ", ".join(quoted(name) for name in models[:3])
    raise StudioError(f"{counted(len(models), 'model')} at once ({shown}); open one at a time.")
