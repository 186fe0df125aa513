"""Everything Passlens raises on purpose.

    StudioError                      one clear sentence: what, where, which limit, what to do
    ├── LoadError                    the file cannot be opened as a model
    │   ├── NotOnnx                  the bytes are something else
    │   ├── Truncated                the bytes stop too early or do not parse
    │   ├── ExternalDataRefused      a tensor's data file may not or cannot be read
    │   └── Unsupported              legal, but outside what is supported
    ├── LimitError                   a limit of `Limits` is exceeded
    ├── InvalidGraph                 the graph breaks ONNX's own rules
    │   ├── Cycle
    │   ├── Undefined                a value is used but never defined
    │   └── Duplicate                a value is defined twice
    ├── TraceError                   a trace cannot be opened or replayed
    ├── PlanError                    memory cannot be planned, or a plan is wrong
    ├── SampleError                  inputs of the user's cannot be read, or do not fit the model
    ├── ToolError                    another optimizer failed on a model, or broke it
    └── RunError                     a worker process failed
        ├── WorkerCrashed            died of a signal
        ├── WorkerTimeout
        ├── OutOfMemory
        ├── Cancelled
        └── Stopping                 the server ends, and its workers with it

The page and the command line catch `StudioError` alone; anything else is a bug of ours.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optimizer.findings import Finding


def quoted(text: str | PurePath, *, limit: int = 80) -> str:
    """`text` in quotes, control characters removed, cut at `limit` characters.

    A path loses its front, not its end: it is the name of the file that a reader looks for.
    """
    clean = str(text)
    if not clean.isprintable():
        clean = "".join(c if c.isprintable() else " " for c in clean)
    if len(clean) <= limit:
        return f"'{clean}'"
    if not isinstance(text, PurePath):
        return f"'{clean[: limit - 1]}…'"
    end = clean[1 - limit :]
    return f"'…{end[max(end.find('/'), 0) :]}'"


def plain(text: str) -> str:
    """A model's text without control characters, for a terminal."""
    return "".join(c if c.isprintable() else "·" for c in text)


class StudioError(Exception):
    """The root of the tree. `findings` lists everything that is wrong, not only the first."""

    def __init__(self, message: str, *, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.findings = tuple(findings)


class LoadError(StudioError):
    """The file cannot be opened as a model."""


class NotOnnx(LoadError):
    """The bytes are something else."""


class Truncated(LoadError):
    """The bytes stop too early or do not parse."""


class ExternalDataRefused(LoadError):
    """A tensor's data file may not or cannot be read."""


class Unsupported(LoadError):
    """Legal ONNX, but outside what is supported."""


class LimitError(StudioError):
    """A limit of `Limits` is exceeded."""


class InvalidGraph(StudioError):
    """The graph breaks ONNX's own rules."""


class Cycle(InvalidGraph):
    """Nodes depend on each other in a circle."""


class Undefined(InvalidGraph):
    """A value is used but never defined."""


class Duplicate(InvalidGraph):
    """A value is defined twice."""


class TraceError(StudioError):
    """A trace cannot be opened or replayed."""


class PlanError(StudioError):
    """Memory cannot be planned, or a plan is wrong."""


class SampleError(StudioError):
    """Inputs of the user's cannot be read, or do not fit the model."""


class ToolError(StudioError):
    """Another optimizer failed on a model, or broke it; what it had made was not taken."""


class RunError(StudioError):
    """A worker process failed."""


class WorkerCrashed(RunError):
    """The worker died of a signal, for example `SIGFPE`."""

    def __init__(self, message: str, *, signal_name: str) -> None:
        super().__init__(message)
        self.signal_name = signal_name


class WorkerTimeout(RunError):
    """The worker used up its wall-clock limit."""


class OutOfMemory(RunError):
    """The worker used up its memory limit."""


class Cancelled(RunError):
    """The person asked to stop."""


class Stopping(RunError):
    """The server ends, and its workers with it."""

    def __init__(self) -> None:
        super().__init__("The server is stopping; start it again to go on.")
