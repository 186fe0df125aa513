"""The range of numbers that a value is taken to have, and tables of them.

A table is a `Mapping[str, Range]` by the name of a value in the model. As a pass's option it is
plain data, `tuple[tuple[str, float, float], ...]`, so that a trace holds it and replays.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from optimizer.errors import StudioError, quoted

Row = tuple[str, float, float]
"""Name of a value, the low and the high end of its range."""


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, both included; what is outside saturates.

    Raises:
        StudioError: an end is not finite, or they are the wrong way round.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise StudioError(f"A range from {self.low:g} to {self.high:g} is not finite.")
        if self.low > self.high:
            raise StudioError(f"A range from {self.low:g} to {self.high:g} ends before it begins.")

    @property
    def magnitude(self) -> float:
        """The largest |x| in it."""
        return max(abs(self.low), abs(self.high))


def rows_of(table: Mapping[str, Range]) -> tuple[Row, ...]:
    """A table as an option of a pass."""
    return tuple((name, found.low, found.high) for name, found in table.items())


def table_of(rows: Iterable[Row]) -> dict[str, Range]:
    """The table that an option holds.

    Raises:
        StudioError: a range is none, or a value has two; says which.
    """
    table: dict[str, Range] = {}
    for name, low, high in rows:
        if name in table:
            raise StudioError(f"Value {quoted(name)} has two ranges.")
        try:
            table[name] = Range(low, high)
        except StudioError as error:
            raise StudioError(f"Value {quoted(name)}: {error.message}") from error
    return table
