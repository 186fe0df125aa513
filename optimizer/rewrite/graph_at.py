"""The graph at a step of a trace on disk: loaded and validated once per process, then moved.

A worker process is asked for steps of the same trace again and again (a film, a prediction, a
picture); reading the source takes longer than most of these. So a few open traces are remembered,
each wherever its last reader left it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.model.graph import Model
from optimizer.model.loader import load_path
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import open_trace_over

MOST_OPEN = 3
"""Traces remembered: the one that is looked at, one that it is compared with, one before."""


@dataclass(frozen=True, slots=True)
class TraceFiles:
    """A trace that goes without its source, and the source.

    Attributes:
        source: the model file of step 0; its data may lie elsewhere, behind links.
        trace: as `save_trace` writes it without a source.
    """

    source: Path
    trace: Path


_FileState = tuple[int | str, ...]
_open: OrderedDict[tuple[_FileState, _FileState], Cursor] = OrderedDict()


def graph_at(files: TraceFiles, step: int) -> ir.Model:
    """The graph at a step, to be read only; the next call may move it to another step.

    Raises:
        StudioError: the source cannot be loaded, or the trace is damaged or has no such step.
    """
    with trace_cursor(files) as cursor:
        return cursor.seek(step)


@contextmanager
def trace_cursor(files: TraceFiles) -> Generator[Cursor]:
    """The cursor behind `graph_at`, for whoever walks many steps; its graphs are read only.

    It is remembered again when nothing went wrong with it: a move cut short leaves no graph of any
    step.

    Raises:
        StudioError: the source cannot be loaded, or the trace is damaged.
    """
    cursor = _open.pop(_key(files), None) or _opened(files)[1]
    yield cursor
    remember_cursor(files, cursor)


def remember_cursor(files: TraceFiles, cursor: Cursor) -> None:
    """Keep a cursor for the next who asks for this trace, also when its files are moved."""
    _open[_key(files)] = cursor
    while len(_open) > MOST_OPEN:
        _open.popitem(last=False)


def own_graph_at(files: TraceFiles, step: int) -> Model:
    """The model at a step, which the caller may change: it is remembered nowhere.

    Raises:
        StudioError: as `graph_at`.
    """
    model, cursor = _opened(files)
    cursor.seek(step)
    return model


def _opened(files: TraceFiles) -> tuple[Model, Cursor]:
    with collection_paused():
        model = load_path(files.source, follow_links=True)
        return model, open_trace_over(files.trace, model.ir)


def _key(files: TraceFiles) -> tuple[_FileState, _FileState]:
    return _state(files.source), _state(files.trace)


def _state(path: Path) -> _FileState:
    """Which file, and in which state; one that is missing is told by who reads it."""
    try:
        status = path.stat()
    except OSError:
        return (str(path), -1, -1)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
