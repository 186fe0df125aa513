"""Sizes for free dimensions of a model that is to run: one guess after the other until it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from optimizer.dimension_text import names_in, parse
from optimizer.free_sizes import Guess, sizes_by_name

Dim = int | str | None
"""A size, a name or expression, or nothing known."""


@dataclass(frozen=True, slots=True)
class SizeChoice:
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


def plans(shapes: Mapping[str, Sequence[Dim]], bindings: Mapping[str, int]) -> Iterator[SizeChoice]:
    """Sizes for everything that is free, the most promising first, without repeats.

    Args:
        shapes: declared shape of each input.
        bindings: sizes that are settled, by dimension name.
    """
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for guess in GUESSES:
        sizes = _sizes(shapes, bindings, guess)
        complete = _complete(shapes, sizes, guess)
        key = tuple(complete.values())
        if key not in seen:
            seen.add(key)
            yield SizeChoice(complete, sizes)


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


def _sizes(
    shapes: Mapping[str, Sequence[Dim]], bindings: Mapping[str, int], guess: Guess
) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for shape in shapes.values():
        for axis, dim in enumerate(shape):
            for name in (names_in(dim) or (dim,)) if isinstance(dim, str) else ():
                sizes.setdefault(name, _anonymous(shape, axis, guess))
    return sizes | sizes_by_name(sizes, bindings, guess)


def _anonymous(shape: Sequence[Dim], axis: int, guess: Guess) -> int:
    if axis == 0:
        return guess.batch
    if len(shape) >= 4 and axis >= 2:
        return guess.spatial
    return guess.sequence if len(shape) == 2 else guess.other
