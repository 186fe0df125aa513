"""What every section of the Run page gets."""

from __future__ import annotations

from dataclasses import dataclass

from studio.experiments.entrant import Entrant
from studio.store import OpenedModel, OpenedRun


@dataclass(frozen=True, slots=True)
class Setting:
    """What was chosen in the sidebar.

    Attributes:
        entrants: variants to run, the baseline first; at least one.
        seconds: of steady running for all of them together.
    """

    model: OpenedModel
    run: OpenedRun
    entrants: tuple[Entrant, ...]
    seconds: float
