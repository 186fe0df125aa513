"""What was opened: a model in the store, and a run of a pipeline over it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from optimizer.codec import Format
from optimizer.rewrite.graph_at import TraceFiles
from profiling.cache.file_lock import FileLock
from studio.graphview.summary import ModelSummary

SOURCE = "source.onnx"
TRACE = "trace.zip"


@dataclass(frozen=True, slots=True)
class PassCounts:
    """What one pass did in a run.

    Attributes:
        fired: its rewrites.
        declined: near misses that were left.
        first: step of its first rewrite; 0 for none.
    """

    fired: int
    declined: int
    first: int


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run of a pipeline came to.

    Attributes:
        steps: of its trace.
        nodes: of the source and of the last step, Constant not counted.
        seconds: of CPU time that optimizing took.
        stopped: why it ended early; "" where it did not.
        exact: whether every pass that fired is.
        totals: by metric, of the source and of the last step.
        lossy: whether some pass that fired gives precision away.
        passes: by id, of those that fired or came near.
    """

    steps: int
    nodes: tuple[int, int]
    seconds: float
    stopped: str
    exact: bool
    totals: Mapping[str, tuple[int, int]]
    lossy: bool = False
    passes: Mapping[str, PassCounts] = field(default_factory=dict[str, PassCounts])


RESULT_FORM = Format(RunResult, "passlens.run/1", "result of a run")


class Pin:
    """Held by what was opened: its model stays in the store as long as anybody has one."""

    def __init__(self, lock: FileLock) -> None:
        self._release = weakref.finalize(self, lock.release)


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model in the store.

    Attributes:
        summary: what is in it.
        pin: keeps it there.
    """

    key: str
    folder: Path
    summary: ModelSummary
    pin: Pin | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """One run of a pipeline over a model in the store.

    Attributes:
        pin: keeps its model there.
    """

    key: str
    folder: Path
    result: RunResult
    pin: Pin | None = field(default=None, repr=False, compare=False)

    @property
    def files(self) -> TraceFiles:
        """What `graph_at` needs."""
        return TraceFiles(self.folder.parent / SOURCE, self.folder / TRACE)


Subject = tuple[OpenedModel, OpenedRun]


@dataclass(frozen=True, slots=True)
class Verified:
    """Whether the optimized model computes what the source does.

    Attributes:
        verdict: of `optimizer.verify`.
        text: for people.
    """

    verdict: str
    text: str
