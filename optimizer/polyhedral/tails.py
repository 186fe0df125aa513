"""The rounds of a stage's loops as its code runs them: with what a tail computes twice, or in vain.

A point is one element, and its loops are functions of it. Where a factor does not divide an extent,
`shift_inwards` comes to some points twice, and `round_up` to places that are no points at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import islpy as isl

from optimizer.loops.schedule import Fuse, Split
from optimizer.polyhedral.affine import joined
from optimizer.polyhedral.instances import Instances
from optimizer.schedules.program import extent_of

_OPEN = {
    "shift_inwards": "begins early enough to be full, so that some points run twice",
    "round_up": "goes on past the end, to points that nobody needs",
}
"""Tails that no `if` ends, and what is said of them."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round of all loops of a stage.

    Attributes:
        numbers: of each loop of its path.
        places: along each axis.
        beyond: whether it is past what is needed.
    """

    numbers: tuple[int, ...]
    places: Mapping[str, int]
    beyond: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """Rounds of some of a stage's loops; places count from where its box begins."""

    numbers: Mapping[str, int]
    places: Mapping[str, int]


def rounds_run(
    one: Instances, around: Sequence[tuple[int, ...]], held: Mapping[str, int]
) -> Iterator[Round]:
    """What the loops of a stage run through.

    Args:
        one: the stage.
        around: rounds of the loops around it.
        held: axes of which only one place is wanted.
    """
    known: dict[tuple[tuple[str, int], ...], list[_Part]] = {}
    groups = _groups(one)
    for before, ends in _boxes(one, around):
        parts: list[list[_Part]] = []
        for axes in groups:
            key = tuple((name, ends[name][1] - ends[name][0] + 1) for name in axes)
            if key not in known:
                known[key] = list(_parts(one, dict(key)))
            wanted = {name: held[name] - ends[name][0] for name in axes if name in held}
            parts.append([part for part in known[key] if wanted.items() <= part.places.items()])
        for chosen in product(*parts):
            numbers = {name: value for part in chosen for name, value in part.numbers.items()}
            places = {name: value for part in chosen for name, value in part.places.items()}
            own = tuple(numbers[name] for name in one.loops.loops)
            beyond = any(value > ends[name][1] - ends[name][0] for name, value in places.items())
            shifted = {name: ends[name][0] + value for name, value in places.items()}
            yield Round((*before, *own), shifted, beyond)


def tail_sentences(one: Instances, around: Sequence[tuple[int, ...]]) -> Iterator[str]:
    """What tails do that no `if` ends, where a factor does not divide."""
    found: dict[str, None] = {}
    for _, ends in _boxes(one, around):
        sizes = {name: high - low + 1 for name, (low, high) in ends.items()}
        for step, extent in _steps(one, sizes)[0]:
            if isinstance(step, Split) and step.tail in _OPEN and extent % step.factor:
                sentence = f"the last round of {step.outer} of {step.func} {_OPEN[step.tail]}"
                found[sentence] = None
    return iter(found)


def _boxes(
    one: Instances, around: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], Mapping[str, tuple[int, int]]]]:
    """Of each round around, the first and the last place along each axis."""
    reduced = {axis.name: (0, extent_of(axis) - 1) for axis in one.stage.reduced}
    names = [axis.name for axis in one.stage.axes]
    every = [end for ends in one.box.ends for end in ends]
    found = joined(every, one.box.rounds.space).intersect_domain(one.box.rounds)
    wanted = set(around)
    for values in coordinates(found.wrap().flatten()):
        before, rest = values[: one.depth], values[one.depth :]
        if before in wanted:
            pairs = zip(rest[::2], rest[1::2], strict=True)
            yield before, dict(zip(names, pairs, strict=True)) | reduced


def _groups(one: Instances) -> list[tuple[str, ...]]:
    """Axes whose loops are fused with each other, together."""
    of = {name: {name} for name in one.axes}
    for step in one.loops.made:
        if isinstance(step, Split):
            of[step.outer] = of[step.inner] = of.pop(step.loop)
        else:
            merged = of.pop(step.outer) | of.pop(step.inner)
            of = {name: merged if axes & merged else axes for name, axes in of.items()}
            of[step.fused] = merged
    found = {tuple(name for name in one.axes if name in axes) for axes in of.values()}
    return sorted(found)


def _steps(
    one: Instances, extents: Mapping[str, int]
) -> tuple[list[tuple[Split | Fuse, int]], dict[str, int]]:
    """Splits and fusions with how often their (inner) loop ran, and how often loops run now."""
    sizes, steps = dict(extents), list[tuple[Split | Fuse, int]]()
    for step in one.loops.made:
        if isinstance(step, Split) and step.loop in sizes:
            old = sizes.pop(step.loop)
            old = max(old, step.factor) if step.tail == "shift_inwards" else old
            sizes |= {step.outer: -(-old // step.factor), step.inner: step.factor}
            steps.append((step, old))
        elif isinstance(step, Fuse) and step.outer in sizes:
            inner = sizes.pop(step.inner)
            sizes[step.fused] = sizes.pop(step.outer) * inner
            steps.append((step, inner))
    return steps, sizes


def _parts(one: Instances, extents: Mapping[str, int]) -> Iterator[_Part]:
    """Rounds of the loops of some axes, of these extents; what an `if` keeps out is left out."""
    steps, sizes = _steps(one, extents)
    for numbers in product(*map(range, sizes.values())):
        found = dict(zip(sizes, numbers, strict=True))
        if _take_back(found, steps):
            places = {name: found[name] for name in extents}
            yield _Part(dict(zip(sizes, numbers, strict=True)), places)


def _take_back(found: dict[str, int], steps: Sequence[tuple[Split | Fuse, int]]) -> bool:
    """Find the rounds of the loops that were replaced; whether nothing keeps this round out."""
    for step, extent in reversed(steps):
        if isinstance(step, Split):
            first = found[step.outer] * step.factor
            if step.tail == "shift_inwards":
                first = min(first, extent - step.factor)
            found[step.loop] = first + found[step.inner]
            if step.tail not in _OPEN and found[step.loop] >= extent:
                return False
        else:
            found[step.outer], found[step.inner] = divmod(found[step.fused], extent)
    return True


def coordinates(points: isl.Set) -> list[tuple[int, ...]]:
    """All points of a set, in order."""
    found: list[tuple[int, ...]] = []
    count = points.dim(isl.dim_type.set)

    def add(point: isl.Point) -> None:
        places = (point.get_coordinate_val(isl.dim_type.set, at) for at in range(count))
        found.append(tuple(one.to_python() for one in places))

    points.foreach_point(add)
    return sorted(found)
