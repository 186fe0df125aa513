"""What the passes would do in the open model, and what they did: as far as it is known yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from optimizer.rewrite.what_if import Preview
from studio.artifacts.opened import PassCounts
from studio.opening import model_task, preview_task, run_task, title_of
from studio.page.parts import PATIENCE_S
from studio.tasks import Task
from studio.workspace import Workspace


@dataclass(frozen=True, slots=True)
class InModel:
    """The open model, as the passes see it.

    Attributes:
        title: of the model.
        did: what passes did in the run of the pipeline, by id; those that did nothing are left out.
        would: what each would do to the source at once, by id; None as long as it is not known.
        trouble: why it will not be known.
        pending: what is under way.
    """

    title: str
    did: Mapping[str, PassCounts] = field(default_factory=dict[str, PassCounts])
    would: Mapping[str, Preview] | None = None
    trouble: str = ""
    pending: tuple[Task[Any], ...] = ()


def in_model(workspace: Workspace) -> InModel:
    """What is known by now; what is not is begun."""
    title = title_of(workspace)
    opening = model_task(workspace)
    opening.wait(PATIENCE_S)
    if opening.result is None:
        return _unknown(title, opening)
    running = run_task(workspace, opening.result)
    running.wait(PATIENCE_S)
    if running.result is None:
        return _unknown(title, running)
    did = running.result.result.passes
    asking = preview_task(opening.result, running.result, 0)
    asking.wait(PATIENCE_S)
    if asking.result is None:
        known = _unknown(title, asking)
        return InModel(title, did, None, known.trouble, known.pending)
    return InModel(title, did, {one.pass_id: one for one in asking.result.passes})


def _unknown(title: str, task: Task[Any]) -> InModel:
    # One that has ended meanwhile is waited for, too: then it is looked at again at once.
    if task.error is None:
        return InModel(title, pending=(task,))
    return InModel(title, trouble=task.error.message)
