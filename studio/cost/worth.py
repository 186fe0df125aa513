"""What the three experiments on what rewrites are worth have in common: request, form, caption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from profiling.config import RunConfig
from profiling.config.option import setting_text
from profiling.config.question import SETTLED, meaning_of, question_of
from profiling.racing.race import Race
from studio.experiment import Equipment, Experiment, OfRaces, measured_on, report_format
from studio.page.parts import words

_LARGE_BYTES = 200_000_000
"""Of weights: fewer of such models race side by side."""


@dataclass(frozen=True, slots=True)
class WorthRequest:
    """What to measure.

    Attributes:
        config: how all variants are run.
        seconds: of steady running in all races together; 0 for no race.
    """

    config: RunConfig
    seconds: float


Request = TypeVar("Request", bound=WorthRequest)
Found = TypeVar("Found", bound=OfRaces)


def worth_experiment(
    name: str, run: Callable[[Equipment, Request], Found], report: type[Found]
) -> Experiment[Request, Found]:
    """An experiment whose report depends, beside the open run, on what `WorthRequest` holds."""
    form = report_format(report, name)
    return Experiment(
        name, "worth", run, form, relevant=lambda request: (request.config, request.seconds)
    )


def is_large(bench: Equipment) -> bool:
    """Whether the open model is so large that few of its kind fit into memory."""
    return bench.model.summary.weight_bytes > _LARGE_BYTES


def how(race: Race, config: RunConfig, *, races: int = 1, seconds: float) -> str:
    """How it was measured, for a caption.

    Args:
        race: the first one.
        config: how all variants ran.
        races: how many there were.
        seconds: of steady running in all of them.
    """
    several = f"{races} interleaved races" if races > 1 else "one interleaved race"
    others = [setting_text(*item) for item in config.changed().items() if item[0] not in SETTLED]
    asked = f"{question_of([config])}: {meaning_of([config])}"
    return words(
        f"{measured_on(race.machine, race.started_at)}; {several} of"
        f" {seconds:.0f} s steady running together, each model in a process of its own;"
        f" {', '.join([asked, *others])}; load {race.machine.load:.1f} before."
    )
