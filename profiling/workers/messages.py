"""What a pool and a worker say to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optimizer.limits import JobLimits


@dataclass(frozen=True, slots=True)
class Job:
    """One call, with all a worker needs for it.

    Attributes:
        function: importable by its name; a keyword-only parameter `progress` is filled in.
        folder: empty private folder to run in.
        import_path: the asking process's `sys.path`.
    """

    function: Callable[..., object]
    args: tuple[object, ...]
    limits: JobLimits
    folder: str
    import_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Started:
    """The job was received; from here on a death is the job's."""

    pid: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The step that is running now."""

    text: str
    fraction: float


@dataclass(frozen=True, slots=True)
class Returned:
    """The job's result."""

    result: object
    reusable: bool


@dataclass(frozen=True, slots=True)
class RaisedStudioError:
    """The job raised an error of our own tree: class, arguments and attributes."""

    kind: type[Exception]
    args: tuple[object, ...]
    state: dict[str, object]
    reusable: bool


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The job ran into one of its limits."""

    resource: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The job raised anything else: a bug."""

    summary: str
    traceback: str


Message = Started | Progress | Returned | RaisedStudioError | Exhausted | Failed
