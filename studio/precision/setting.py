"""What every section of the Precision page gets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.precision.samples import Samples, files_of
from profiling.precision.building import prelude
from studio.artifacts.opened import OpenedModel, OpenedRun, Subject
from studio.page.parts import model_and_run
from studio.precision.link import PrecisionChoice
from studio.precision.samples import ObserveRequest, samples_folder
from studio.workspace import current, remember

_QUICK_US = 300_000.0
_QUICK_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class PrecisionSetting:
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

    @property
    def held_out(self) -> int:
        """Samples to leave out where errors are measured: those ranges rest on, if there are more.

        Of generated inputs there are always more.
        """
        return self.left_out(self.choice.inputs)

    def left_out(self, calibrated: int) -> int:
        """The same, where ranges rest on so many."""
        if self.samples is None:
            return calibrated
        count = len(files_of(Samples(self.samples, count=calibrated + 1)))
        return calibrated if count > calibrated else 0


def is_quick(setting: PrecisionSetting, size_bytes: int, predicted_us: float) -> bool:
    """Whether a model is so small that it is run on generated inputs without being asked to.

    Args:
        setting: which inputs.
        size_bytes: of its constants.
        predicted_us: of one run.
    """
    if setting.samples is not None or size_bytes > _QUICK_BYTES:
        return False
    return predicted_us * setting.choice.inputs <= _QUICK_US


def setting_here() -> PrecisionSetting | None:
    """What this session has chosen; None while there is progress or an error to show."""
    found = model_and_run(prelude())
    if found is None:
        return None
    model, run = found
    choice = current().of(PrecisionChoice)
    return PrecisionSetting(model, run, choice, samples_folder(run, choice.samples))


def change(**changes: Any) -> None:
    """Set something of the page; the link follows."""
    workspace = current()
    remember(workspace.having(replace(workspace.of(PrecisionChoice), **changes)))
