"""What every section of the Precision page gets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from optimizer.pipeline import Pipeline
from optimizer.registry import find
from studio.artifacts.opened import OpenedModel, OpenedRun, Subject
from studio.artifacts.store import run_key
from studio.opening import model_task, pipeline_task, title_of, try_again
from studio.page.parts import settled, words
from studio.precision.link import PrecisionChoice
from studio.precision.samples import ObserveRequest, samples_folder
from studio.services import tasks
from studio.workspace import current, remember


@dataclass(frozen=True, slots=True)
class Setting:
    """What was chosen.

    Attributes:
        model: that is open.
        run: the float model that plans begin with.
        choice: method, value and the rest.
        samples: folder of the visitor's own; None for generated inputs.
    """

    model: OpenedModel
    run: OpenedRun
    choice: PrecisionChoice
    samples: Path | None

    @property
    def subject(self) -> Subject:
        """What artifacts are made of."""
        return self.model, self.run

    @property
    def step(self) -> int:
        """The last step: the float model as plans find it."""
        return self.run.result.steps

    @property
    def observed(self) -> ObserveRequest:
        """What ranges are observed on."""
        folder = "" if self.samples is None else str(self.samples)
        return ObserveRequest(self.step, folder, self.choice.inputs)


def float_pipeline() -> Pipeline:
    """What every plan begins with: the default passes, and opset 13 for scales a channel."""
    raised, plain = find("raise-opset"), Pipeline.of("default")
    return plain if raised is None else replace(plain, passes=(*plain.passes, raised()))


def setting_here() -> Setting | None:
    """What this session has chosen; None while there is progress or an error to show."""
    workspace = current()
    opening = f"Opening {words(title_of(workspace))}"
    model = settled(model_task(workspace), opening, partial(try_again, workspace))
    if model is None:
        return None
    pipeline = float_pipeline()
    again = partial(tasks().drop_failed, ("run", model.key, run_key(pipeline)))
    run = settled(pipeline_task(pipeline, model), "Optimizing", again)
    if run is None:
        return None
    choice = workspace.of(PrecisionChoice)
    return Setting(model, run, choice, samples_folder(run, choice.samples))


def change(**changes: Any) -> None:
    """Set something of the page; the link follows."""
    workspace = current()
    remember(workspace.having(replace(workspace.of(PrecisionChoice), **changes)))
