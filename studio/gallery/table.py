"""What is in the gallery: `models.json`, of which `python -m benchmarks.gallery_figures` counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent / "models.json"


@dataclass(frozen=True, slots=True)
class GalleryModel:
    """A sample network.

    Attributes:
        id: short name, as in `?model=resnet50`, and of the packed file.
        title: display name.
        told: one sentence on what there is to see, with places for what was counted: {steps},
            {gone}, {left}, {times}.
        nodes: operators, Constant not counted.
        left: operators after the last step of the default passes.
        steps: rewrites of their trace.
        size_bytes: of the unpacked file.
        origin: the configuration it was exported from; all weights are random.
        sha256: of the unpacked file, in hex.
    """

    id: str
    title: str
    told: str
    nodes: int
    left: int
    steps: int
    size_bytes: int
    origin: str
    sha256: str

    @property
    def story(self) -> str:
        """The sentence with its figures."""
        return self.told.format(
            steps=f"{self.steps:,}",
            left=f"{self.left:,}",
            gone=f"{(self.nodes - self.left) / self.nodes:.0%}".replace("%", " %"),
            times=f"{self.nodes / self.left:.0f}",
        )


MODELS = tuple(GalleryModel(**row) for row in json.loads(FILE.read_text(encoding="utf-8")))
