"""Sizes for free dimensions: guesses from their names, then other guesses until the model runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from optimizer.dimension_text import parse

Dim = int | str | None
"""A size, a name or expression, or nothing known."""

_BATCH = re.compile(r"^(batch.*|b|bs|n|num_?batch.*|unk__\d+|none|\?)$", re.IGNORECASE)
_PAST = re.compile(r"past|cache|history|prev", re.IGNORECASE)
_SEQUENCE = re.compile(r"seq|length|len|token|time|frames|text|^[stl]$", re.IGNORECASE)
_SPATIAL = re.compile(r"height|width|^[hw]$|image", re.IGNORECASE)
_TOTAL = re.compile(r"^(total|all)|kv", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Guess:
    """One idea of how large free dimensions may be."""

    batch: int
    past: int
    sequence: int
    spatial: int
    other: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A size for every free dimension, and the shapes that follow.

    Attributes:
        shapes: complete shape of each input.
        sizes: by dimension name.
    """

    shapes: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int]


GUESSES = (
    Guess(batch=2, past=4, sequence=8, spatial=32, other=4),
    Guess(batch=1, past=3, sequence=5, spatial=32, other=1),
    Guess(batch=1, past=4, sequence=8, spatial=64, other=8),
    Guess(batch=1, past=1, sequence=1, spatial=224, other=1),
    Guess(batch=2, past=8, sequence=16, spatial=224, other=2),
    Guess(batch=1, past=4, sequence=512, spatial=64, other=1),  # a frame of audio
    Guess(batch=1, past=16, sequence=32, spatial=256, other=16),
    Guess(batch=4, past=4, sequence=4, spatial=128, other=4),
    Guess(batch=1, past=32, sequence=64, spatial=512, other=64),
    Guess(batch=1, past=0, sequence=128, spatial=320, other=32),
    Guess(batch=8, past=8, sequence=8, spatial=8, other=8),
)


def plans(shapes: Mapping[str, Sequence[Dim]], bindings: Mapping[str, int]) -> Iterator[Plan]:
    """Sizes for everything that is free, the most promising first, without repeats.

    Args:
        shapes: declared shape of each input.
        bindings: sizes that are settled, by dimension name.
    """
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for guess in GUESSES:
        sizes = {**_sizes(shapes, guess), **bindings}
        complete = _complete(shapes, sizes, guess)
        key = tuple(complete.values())
        if key not in seen:
            seen.add(key)
            yield Plan(complete, sizes)


def names_in(text: str) -> tuple[str, ...]:
    """The dimension names an expression consists of; the text itself where it is just a name."""
    expression = parse(text)
    return tuple(sorted(expression.symbols())) if expression is not None else (text,)


def evaluate(dim: Dim, sizes: Mapping[str, int]) -> int | None:
    """The dimension as a number, or None where `sizes` does not settle it."""
    if dim is None or isinstance(dim, int):
        return dim
    if dim in sizes:
        return sizes[dim]
    expression = parse(dim)
    if expression is None:
        return None
    try:
        value = expression.evaluate(sizes)
    except ArithmeticError:
        return None
    return value if isinstance(value, int) and value >= 0 else None


def _complete(
    shapes: Mapping[str, Sequence[Dim]], sizes: Mapping[str, int], guess: Guess
) -> dict[str, tuple[int, ...]]:
    plan: dict[str, tuple[int, ...]] = {}
    for name, shape in shapes.items():
        dims: list[int] = []
        for axis, dim in enumerate(shape):
            size = evaluate(dim, sizes)
            dims.append(_anonymous(shape, axis, guess) if size is None else size)
        plan[name] = tuple(dims)
    return plan


def _sizes(shapes: Mapping[str, Sequence[Dim]], guess: Guess) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for shape in shapes.values():
        for axis, dim in enumerate(shape):
            for name in names_in(dim) if isinstance(dim, str) else ():
                if name not in sizes:
                    sizes[name] = _named(name, shape, axis, guess)
    if not any(_PAST.search(name) for name in sizes):
        return sizes
    return {
        # what has been seen and what is new
        name: guess.past + guess.sequence if _TOTAL.search(name) else size
        for name, size in sizes.items()
    }


def _named(name: str, shape: Sequence[Dim], axis: int, guess: Guess) -> int:
    if _PAST.search(name):
        return guess.past
    if _SPATIAL.search(name):
        return guess.spatial
    if _SEQUENCE.search(name):
        return guess.sequence
    if _BATCH.search(name) or "batch" in name.lower():
        return guess.batch
    return _anonymous(shape, axis, guess)


def _anonymous(shape: Sequence[Dim], axis: int, guess: Guess) -> int:
    if axis == 0:
        return guess.batch
    if len(shape) >= 4 and axis >= 2:
        return guess.spatial
    return guess.sequence if len(shape) == 2 else guess.other
