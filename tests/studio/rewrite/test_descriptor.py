"""What the viewer is told while tasks end."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from optimizer.pipeline import Pipeline
from profiling.workers import default_pool
from studio.artifacts.opened import OpenedModel, Verified
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.tasks import Task
from studio.versus import Versus
from studio.viewing import workbench
from studio.workspace import Workspace

Result = TypeVar("Result")


class EndsWhenLookedAt(Task[Result]):
    """A task that ends just when somebody asks whether it has."""

    def __init__(self, outcome: Result) -> None:
        super().__init__()
        self.outcome = outcome

    @property
    def done(self) -> bool:
        self.result = self.outcome
        return True


def test_what_is_not_busy_has_its_steps(tmp_path: Path) -> None:
    """Else the viewer shows the graph without a trace, and forgets what it was asked."""
    store = Store(default_pool(), root=tmp_path)
    model = store.open_file(gallery.open_path("tour"), name="tour")
    run = store.run(model, Pipeline.of("none"))
    opening = EndsWhenLookedAt(model)
    assert opening.done
    told = workbench(Workspace(model="tour"), opening, EndsWhenLookedAt(run))
    assert told["busy"] is not None or told["steps"] is not None


def test_of_two_pipelines_each_is_told_whether_it_computes_the_same_the_worse_one_first() -> None:
    workspace = Workspace(model="tour", versus=Versus("cpu", frozenset(), frozenset()))
    mine = EndsWhenLookedAt(Verified("equal", "Verified."))
    other = EndsWhenLookedAt(Verified("not_run", "Not run."))
    opening: Task[OpenedModel] = Task()
    told = workbench(workspace, opening, None, mine, verifying_versus=other)
    assert told["verified"] == {"verdict": "not_run", "text": "cpu: Not run. portable: Verified."}
    alone = workbench(Workspace(model="tour"), opening, None, mine)
    assert alone["verified"] == {"verdict": "equal", "text": "Verified."}
