"""What is drawn of a nest: its points along two axes, dependences, and their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.codec import Format

Cell = tuple[int, int]
"""A row and a column."""


@dataclass(frozen=True, slots=True)
class DrawnStage:
    """Points of a stage along two of its axes.

    Attributes:
        name: of the stage; one that combines has a prime.
        axes: down and across; the first is empty where it has but one.
        first: the least place along each.
        last: the greatest.
        held: what else there is, and where it is held: `n = 0, o = 0`.
        tiles: the first and the last cell of each.
        choices: all axes that have more than one place.
        beyond: cells that are computed and that nobody needs, since a tail goes past the end.
    """

    name: str
    axes: tuple[str, str]
    first: Cell
    last: Cell
    held: str
    tiles: tuple[tuple[Cell, Cell], ...]
    choices: tuple[str, ...]
    beyond: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Tick:
    """What runs at once: a point, or all lanes of a vector.

    Attributes:
        stage: its number among those drawn.
    """

    stage: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A dependence: the first point has to run before the second."""

    stages: tuple[int, int]
    cells: tuple[Cell, Cell]


@dataclass(frozen=True, slots=True)
class PolyhedralView:
    """Points, dependences and the order of both.

    Attributes:
        note: what is smaller here than there.
        broken: what the order breaks, in sentences; nothing where it is legal.
        refused: why primitives are left out that name what is not there.
        stages: those that are drawn, the first to be read first.
        left_out: names of those that are not.
        ticks: in the order of their running.
        tails: what tails do that no `if` ends, in sentences.
    """

    note: str
    broken: tuple[str, ...]
    refused: tuple[str, ...]
    stages: tuple[DrawnStage, ...]
    left_out: tuple[str, ...]
    ticks: tuple[Tick, ...]
    arrows: tuple[Arrow, ...]
    tails: tuple[str, ...] = ()


POLYHEDRAL_VIEW = Format(PolyhedralView, "passlens.polyhedral-view/1", "view of points")
Axes = Mapping[str, tuple[str, str]]
"""Which two axes are drawn of a stage, by its name; others are chosen."""
