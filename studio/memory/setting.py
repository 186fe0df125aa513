"""What every section of the Memory page gets."""

from __future__ import annotations

from dataclasses import dataclass

from studio.artifacts.opened import OpenedModel, OpenedRun, Subject
from studio.memory.arena_map import ArenaMap
from studio.memory.link import MemoryChoice
from studio.memory.subject import ArenaRequest
from studio.workspace import Before


@dataclass(frozen=True, slots=True)
class Setting:
    """What was chosen.

    Attributes:
        request: the arena of the step that is looked at.
        before: what it is compared with: the source, or the step before.
        choice: planner, seconds and the rest.
    """

    model: OpenedModel
    run: OpenedRun
    request: ArenaRequest
    before: Before
    choice: MemoryChoice

    @property
    def subject(self) -> Subject:
        """What artifacts are made of."""
        return self.model, self.run

    @property
    def last(self) -> int:
        """The trace's last step."""
        return self.run.result.steps

    @property
    def before_step(self) -> int:
        """The step it is compared with."""
        return 0 if self.before == "source" else max(0, self.request.step - 1)


@dataclass(frozen=True, slots=True)
class Maps:
    """The step that is looked at, and what it is compared with, if anything.

    Attributes:
        steps: of the trace: of `before`, of `after`.
    """

    after: ArenaMap
    before: ArenaMap | None
    steps: tuple[int, int]

    @property
    def before_title(self) -> str:
        """What it is compared with."""
        return _title(self.steps[0])

    @property
    def after_title(self) -> str:
        """What is looked at."""
        return _title(self.steps[1])

    def of(self, graph: str) -> Maps:
        """The same of a body."""
        if not graph:
            return self
        before = self.before.find(graph) if self.before is not None else None
        return Maps(self.after.find(graph) or self.after, before, self.steps)


def _title(step: int) -> str:
    return f"Step {step}" if step else "Source"
