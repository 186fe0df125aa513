"""What every section of the Memory page gets."""

from __future__ import annotations

from dataclasses import dataclass

from studio.memory_choice import MemoryChoice
from studio.planning.request import ArenaRequest
from studio.store import OpenedModel, OpenedRun
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
    def last(self) -> int:
        """The trace's last step."""
        return self.run.result["steps"]
