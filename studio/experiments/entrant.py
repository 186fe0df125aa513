"""A variant as people choose it: a step of a trace, and how it is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiling.config import RunConfig
from profiling.racing.race import Variant
from studio.store import OpenedModel, OpenedRun, Store


@dataclass(frozen=True, slots=True)
class Entrant:
    """One participant of an experiment; labels are unique in it."""

    label: str
    step: int
    config: RunConfig


def variants_of(
    entrants: Sequence[Entrant], store: Store, subject: tuple[OpenedModel, OpenedRun]
) -> list[Variant]:
    """The entrants with their files written.

    Raises:
        StudioError: a step cannot be written.
    """
    model, run = subject
    return [
        Variant(entrant.label, store.materialize(model, run, entrant.step), entrant.config)
        for entrant in entrants
    ]
