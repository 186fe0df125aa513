"""Opening models, and handing them on to what reads files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from optimizer.model.graph import Model
from optimizer.model.writer import to_bytes
from optimizer.rewrite.trace import Trace
from optimizer.source import open_source
from passlens.traces import replay
from profiling.workers import default_pool
from studio.commands.models import model_path

Source = str | Path | Model | Trace
"""A path or the id of a sample network, an opened model, or what a trace ends in."""


def open_model(model: str | Path, *, bind: Mapping[str, int] | None = None) -> Model:
    """Open a model, bind its free dimensions and infer its shapes, as every command does.

    >>> model = open_model("tour")
    >>> model.statuses.runnable.ok
    True

    Args:
        model: the path of an ONNX file, or the id of a sample network.
        bind: sizes of free dimensions.

    Raises:
        StudioError: it cannot be opened, or a bound dimension does not exist.
    """
    return open_source(model_path(str(model)), isolate=default_pool(), bind=bind)


def as_file(source: Source) -> bytes | Path:
    """A path, or the bytes of an ONNX file.

    Raises:
        StudioError: there is no such file or step, or its weights do not fit into one file.
    """
    if isinstance(source, Trace):
        return to_bytes(replay(source).ir)
    return to_bytes(source.ir) if isinstance(source, Model) else model_path(str(source))
