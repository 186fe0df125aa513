"""What the Precision page is set to, and how a link says it.

precision=layers  calibrate=mse  value=%2Fconv1  inputs=8  samples=0123456789abcdef  numbers=float16
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

from studio.link import Settings, matching, one_of, parameter, whole

Section = Literal["ranges"]
SECTIONS: tuple[Section, ...] = get_args(Section)
METHOD = "entropy"
INPUTS, MOST_INPUTS = 4, 32
_ID = re.compile("[a-z][a-z0-9-]{0,40}")
_KEY = re.compile("[0-9a-f]{16}")
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
        samples: of the user's files, the key of their folder; empty where inputs are generated.
    """

    section: Section = parameter("precision", "ranges", one_of(SECTIONS))
    method: str = parameter("calibrate", METHOD, matching(_ID))
    value: str = parameter("value", "", _name)
    inputs: int = parameter("inputs", INPUTS, whole(1, MOST_INPUTS))
    samples: str = parameter("samples", "", matching(_KEY))

    def for_another_model(self) -> PrecisionChoice:
        """The same without what belongs to one model."""
        return replace(self, value="", samples="")


SETTINGS = PrecisionChoice
