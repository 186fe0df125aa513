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

Variant = Literal["", "corrected", "equalized", "smoothed", "onnxruntime"]
"""How int8 is made of a whole model, the plain way first."""

_VARIANTS: Mapping[Variant, str] = {
    "corrected": "biases corrected",
    "equalized": "channels equalized, biases corrected",
    "smoothed": "activations smoothed, biases corrected",
    "onnxruntime": "by ONNX Runtime's own tool",
}
_SAME_OPERATIONS: frozenset[Variant] = frozenset({"", "corrected", "equalized"})
"""They differ by numbers alone, and take the same time."""

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
        variant: how int8 is made.
    """

    choices: tuple[Choice, ...]
    method: str = ""
    variant: Variant = ""

    @property
    def is_float(self) -> bool:
        """Whether nothing changes."""
        return set(self.choices) <= {"float32"}

    @property
    def digest(self) -> str:
        """Of what it says: files and results are kept under it."""
        text = json.dumps([self.choices, self.method, self.variant])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def settled(self) -> PrecisionPlan:
        """The same, without what says nothing where there is no static int8."""
        if "static int8" in self.choices:
            return self
        own = self.variant if "dynamic int8" in self.choices else ""
        return PrecisionPlan(self.choices, variant="onnxruntime" if own == "onnxruntime" else "")

    @property
    def operations(self) -> tuple[tuple[Choice, ...], Variant]:
        """What runs: plans that are alike in it differ by numbers, and take the same time."""
        return self.choices, "" if self.variant in _SAME_OPERATIONS else self.variant

    def text(self, regions: Sequence[Region]) -> str:
        """In words: `static int8 everywhere`, `dynamic int8 in 20 of 24 regions`."""
        if self.is_float:
            return "float32"
        parts = [
            f"{choice} {self._where(choice, count, regions)}"
            for choice, count in Counter(self.choices).most_common()
            if choice != "float32"
        ]
        ranges = f"{self.method} ranges" if self.method else ""
        made = ", ".join(filter(None, [ranges, _VARIANTS.get(self.variant, "")]))
        return ", ".join(parts) + (f" ({made})" if made else "")

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
