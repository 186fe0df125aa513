"""Which values are images: a batch, channels first or last, and places."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.layout.formats import FIRST, LAST
from optimizer.layout.inference import Layouts

_BATCH, _CHANNELS, _PLACES = frozenset("N"), frozenset("C"), frozenset("DHW")


def images_of(layouts: Layouts) -> dict[ir.Value, str]:
    """Values that are a batch of images with channels, by where the channels are."""
    found: dict[ir.Value, str] = {}
    for value, axes in layouts.axes.items():
        letters = [frozenset(filter(str.isalpha, text)) for text in axes]
        if len(axes) < 3 or letters[0] != _BATCH:
            continue
        if letters[1] == _CHANNELS and all(map(_spatial, letters[2:])):
            found[value] = FIRST
        elif letters[-1] in (_CHANNELS, frozenset()) and all(map(_spatial, letters[1:-1])):
            found[value] = LAST
    return found


def _spatial(letters: frozenset[str]) -> bool:
    return bool(letters) and letters <= _PLACES
