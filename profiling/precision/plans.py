"""Plans: a precision for each region of a graph."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from optimizer.numbers import counted
from profiling.precision.regions import Region

Choice = Literal[
    "float32", "static int8", "dynamic int8", "int8 weights", "int4 weights", "float16"
]
"""Static ranges are known beforehand, dynamic ones found in every run; weights are for size."""

CHOICES: tuple[Choice, ...] = get_args(Choice)
BITS: Mapping[Choice, int] = {
    "float32": 32, "static int8": 8, "dynamic int8": 8, "int8 weights": 8, "int4 weights": 4,
    "float16": 16,
}  # fmt: skip
"""Of a weight."""
Goal = Literal["speed", "size"]


@dataclass(frozen=True, slots=True)
class PrecisionPlan:
    """What to do with a model.

    Attributes:
        choices: for each region, in their order.
        method: by which ranges of static int8 are chosen; empty where there is none.
    """

    choices: tuple[Choice, ...]
    method: str = ""

    @property
    def is_float(self) -> bool:
        """Whether nothing changes."""
        return set(self.choices) <= {"float32"}

    @property
    def digest(self) -> str:
        """Of what it says: files and results are kept under it."""
        text = json.dumps([self.choices, self.method])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def settled(self) -> PrecisionPlan:
        """The same, without a method where no ranges are chosen."""
        return self if "static int8" in self.choices else PrecisionPlan(self.choices)

    def text(self, regions: Sequence[Region]) -> str:
        """In words: `static int8 everywhere`, `dynamic int8 in 20 of 24 regions`."""
        if self.is_float:
            return "float32"
        parts = [
            f"{choice} {self._where(choice, count, regions)}"
            for choice, count in Counter(self.choices).most_common()
            if choice != "float32"
        ]
        return ", ".join(parts) + (f" ({self.method} ranges)" if self.method else "")

    def _where(self, choice: Choice, count: int, regions: Sequence[Region]) -> str:
        """Where a choice was made, of all places where it could have been."""
        pairs = zip(self.choices, regions, strict=True)
        others = [known for own, known in pairs if choice in choices_of(known) and own != choice]
        if not others:
            return "everywhere"
        if len(others) == 1 and count > 1:
            return f"everywhere but in {others[0].title}"
        return f"in {count} of {counted(count + len(others), 'region')}"


def choices_of(region: Region) -> tuple[Choice, ...]:
    """What makes sense for a region, float32 first.

    A convolution is never quantized anew in every run: that is slower than float. A table has no
    product, so that only what is stored can change.
    """
    match region.kind:
        case "embeddings":
            return ("float32", "int8 weights")
        case "convolutions":
            return ("float32", "static int8", "float16")
        case _:
            return CHOICES
