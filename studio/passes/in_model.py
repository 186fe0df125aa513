"""What the passes would do in the open model, and what they did: as far as it is known yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

from optimizer.isolation import Following
from optimizer.rewrite.what_if import Preview
from studio.artifacts.opened import PassCounts
from studio.opening import model_task, run_task, title_of
from studio.page.parts import PATIENCE_S
from studio.preview import PREVIEW, StepPreview
from studio.services import store, tasks
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
    subject = (opening.result, running.result)

    def make(**following: Unpack[Following]) -> StepPreview:
        return store().get(PREVIEW, subject, 0, **following)

    # The key is the viewer's, which asks the same of any step.
    asking = tasks().start(PREVIEW.key(subject, 0), make)
    asking.wait(PATIENCE_S)
    did = running.result.result.passes
    if asking.result is None:
        known = _unknown(title, asking)
        return InModel(title, did, None, known.trouble, known.pending)
    return InModel(title, did, {one.pass_id: one for one in asking.result.passes})


def _unknown(title: str, task: Task[Any]) -> InModel:
    trouble = task.error.message if task.error is not None else ""
    return InModel(title, trouble=trouble, pending=() if task.done else (task,))
