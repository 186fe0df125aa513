"""A search for the cheapest plan: its task, and where what it found is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimizer.errors import Cancelled
from optimizer.isolation import Progress
from profiling.cache.atomic_folder import atomic_folder
from profiling.precision.choose import SearchRequest, choose
from profiling.precision.chosen import CHOSEN, ChosenPlan
from studio.artifacts.artifact import Value
from studio.services import pool, tasks
from studio.tasks import Task

_LOOK_S = 0.2
_FORM = Value(CHOSEN)


@dataclass(frozen=True, slots=True)
class Search:
    """A search that can be begun.

    Attributes:
        asked: what is wanted.
        source: the model's file.
        folder: where what was found is kept.
        kind: how keys of searches on this model begin.
    """

    asked: SearchRequest
    source: Path
    folder: Path
    kind: tuple[str, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """Of the task."""
        return (*self.kind, self.folder.name)

    def others(self) -> list[Task[ChosenPlan]]:
        """Searches on this model with something else wanted, that have not ended."""
        return [task for key, task in tasks().running(self.kind).items() if key != self.key]

    def kept(self) -> ChosenPlan | None:
        """What was found before, on this server."""
        return _FORM.read(self.folder, None) if self.folder.is_dir() else None

    def __call__(
        self,
        *,
        progress: Progress,
        cancelled: Callable[[], bool],
        partial: Callable[[Any], None] = lambda _: None,
    ) -> ChosenPlan:
        """End the others and search: the last one begun wins."""
        others = self.others()
        for task in others:  # two would disturb each other's races; each keeps what it found
            task.cancel()
        while not all(task.wait(_LOOK_S) for task in others):
            progress("ending the search before", 0.0)
            if cancelled():
                raise Cancelled("Cancelled before the search had begun.")
        found = choose(
            self.source, self.asked, pool=pool(), observer=partial, progress=progress,
            cancelled=cancelled,
        )  # fmt: skip
        with atomic_folder(self.folder) as draft:
            _FORM.write(draft, found)
        return found
