"""What the default passes leave of each sample network, counted when the samples were packed.

`python -m benchmarks.gallery_figures` writes the file; nothing in it is typed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "figures.json"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a story may tell.

    Attributes:
        nodes: operators of the source, Constant not counted.
        left: operators after the last step.
        steps: rewrites of the trace.
    """

    nodes: int
    left: int
    steps: int

    def to_json(self) -> dict[str, int]:
        """For the file."""
        return asdict(self)

    def told(self, story: str) -> str:
        """A story with the figures in their places: {steps}, {gone}, {left}, {times}."""
        return story.format(
            steps=f"{self.steps:,}",
            left=f"{self.left:,}",
            gone=f"{(self.nodes - self.left) / self.nodes:.0%}".replace("%", " %"),
            times=f"{self.nodes / self.left:.0f}",
        )


def figures_of(model_id: str) -> Figures | None:
    """Of one sample network; None before it was first counted."""
    known = _all().get(model_id)
    return Figures(**known) if known is not None else None


@cache
def _all() -> dict[str, dict[str, int]]:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
