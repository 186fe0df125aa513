"""What the Precision page is set to, and how a link says it.

precision=layers  calibrate=mse  value=%2Fconv1  inputs=8  samples=0123456789abcdef
numbers=float16  budget=25dB  goal=size  minutes=10
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from profiling.precision.plans import CHOICES, Choice, Goal
from studio.link import Settings, matching, one_of, parameter, whole

Section = Literal["ranges", "layers", "budget"]
SECTIONS: tuple[Section, ...] = get_args(Section)
METHOD = "entropy"
INPUTS, MOST_INPUTS = 4, 32
MINUTES, MOST_MINUTES = 3, 60
BUDGET = "25 dB"
NUMBERS: Mapping[str, Choice] = {
    choice.replace(" ", "-"): choice for choice in CHOICES if choice != "float32"
}
"""Precisions by their word in a link."""
_ID = re.compile("[a-z][a-z0-9-]{0,40}")
_KEY = re.compile("[0-9a-f]{16}")
_BUDGET = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4})? ?(%|dB)")
_MOST_NAME = 400


def _name(text: str) -> str | None:
    """Any name of a value: it is looked up among those that there are."""
    return text if 0 < len(text) <= _MOST_NAME else None


@dataclass(frozen=True, slots=True)
class PrecisionChoice(Settings):
    """The settings.

    Attributes:
        section: what is looked at.
        method: id of the method that chooses ranges.
        value: name of the activation that is drawn; empty for what the heaviest product reads.
        inputs: how many are generated, or taken of the user's.
        numbers: the precision whose errors are measured.
        budget: of a search: the most error of an output, or the least signal over it.
        goal: of a search.
        minutes: of a search.
        samples: of the user's files, the key of their folder; empty where inputs are generated.
    """

    section: Section = parameter("precision", "ranges", one_of(SECTIONS))
    method: str = parameter("calibrate", METHOD, matching(_ID))
    value: str = parameter("value", "", _name)
    inputs: int = parameter("inputs", INPUTS, whole(1, MOST_INPUTS))
    samples: str = parameter("samples", "", matching(_KEY))
    numbers: str = parameter("numbers", next(iter(NUMBERS)), one_of(NUMBERS))
    budget: str = parameter("budget", BUDGET, matching(_BUDGET))
    goal: Goal = parameter("goal", "speed", one_of(get_args(Goal)))
    minutes: int = parameter("minutes", MINUTES, whole(1, MOST_MINUTES))

    def for_another_model(self) -> PrecisionChoice:
        """The same without what belongs to one model."""
        return replace(self, value="", samples="")


SETTINGS = PrecisionChoice
