"""Sizes for free dimensions that nobody gave one: what a name says it counts, and how many that is.

Names are read in one way for all; how large each kind is taken to be is a `Guess`. What is reckoned
on paper takes `ASSUMED`, on every page; to run a model is another matter, and tries small ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guess:
    """One idea of how large free dimensions may be."""

    batch: int
    past: int
    sequence: int
    spatial: int
    other: int


ASSUMED = Guess(batch=1, past=128, sequence=128, spatial=128, other=128)
"""What is reckoned with where nothing runs."""

_KINDS = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        "batch": r"batch|^(b|bs|n|none|\?)$|^unk_",  # tf2onnx calls the batch unk__1
        "past": "past|cache|history|prev",
        "total": "^(total|all)|kv",
        "spatial": "height|width|^[hw]$|image",
        "sequence": "seq|length|len|token|time|frames|text|^[stl]$",
    }.items()
}
"""What speaks of each kind in a name; the first that is found counts."""


def sizes_by_name(
    names: Iterable[str], given: Mapping[str, int], guess: Guess = ASSUMED
) -> dict[str, int]:
    """Sizes by name; names that say nothing, and have no size given, are left out.

    Args:
        names: of one model's dimensions: a total is what is past and what is new together, where
            something is past.
        given: sizes that are settled, by name.
        guess: how large all others are.
    """
    kinds = {name: _kind(name) for name in names}
    if "past" not in kinds.values():
        kinds = {name: _kind(name, passing_over="total") for name in kinds}
    sizes = {name: getattr(guess, kind, 0) for name, kind in kinds.items() if kind} | {**given}
    past, new = (
        next((sizes[name] for name, other in kinds.items() if other == kind), default)
        for kind, default in (("past", guess.past), ("sequence", guess.sequence))
    )
    totals = {name: past + new for name, kind in kinds.items() if kind == "total"}
    return sizes | totals | {**given}


def _kind(name: str, *, passing_over: str = "") -> str:
    found = (kind for kind, pattern in _KINDS.items() if pattern.search(name))
    return next((kind for kind in found if kind != passing_over), "")
