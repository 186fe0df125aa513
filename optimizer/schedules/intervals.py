"""Between which values an index lies, where its variables lie between values themselves.

All values are arrays: one for each round of loops around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.loops.scalar import Apply, Number, Scalar, Var

Array = NDArray[np.int64]
Interval = tuple[Array, Array]
"""Smallest and largest value, both included."""


def terms_interval(
    terms: Sequence[tuple[Scalar, int]], variables: Mapping[str, Interval]
) -> Interval | None:
    """Of a sum of multiples; None where nothing says so."""
    low = high = np.asarray(0, np.int64)
    for atom, factor in terms:
        found = interval(atom, variables)
        if found is None:
            return None
        ends = found if factor >= 0 else (found[1], found[0])
        low, high = low + factor * ends[0], high + factor * ends[1]
    return low, high


def interval(scalar: Scalar, variables: Mapping[str, Interval]) -> Interval | None:
    """Of an expression; None where nothing says so."""
    if isinstance(scalar, Var):
        return variables[scalar.name]
    if isinstance(scalar, Number):
        value = np.asarray(int(scalar.value), np.int64)
        return value, value
    if not isinstance(scalar, Apply):
        return None
    found = [interval(one, variables) for one in scalar.arguments]
    known = [one for one in found if one is not None]
    if scalar.function == "select":
        branches = [one for one in found[1:] if one is not None]
        return hull(*branches) if len(branches) == 2 else None
    if len(known) < len(found):
        return None
    return _applied(scalar, known)


def _applied(scalar: Apply, known: list[Interval]) -> Interval | None:
    (low, high), *rest = known
    match scalar.function, rest:
        case "add", [(other_low, other_high)]:
            return low + other_low, high + other_high
        case "sub", [(other_low, other_high)]:
            return low - other_high, high - other_low
        case "mul", [(other_low, other_high)]:
            ends = [low * other_low, low * other_high, high * other_low, high * other_high]
            return _least(ends), _most(ends)
        case "min", [(other_low, other_high)]:
            return np.minimum(low, other_low), np.minimum(high, other_high)
        case "max", [(other_low, other_high)]:
            return np.maximum(low, other_low), np.maximum(high, other_high)
        case (("floor_div" | "floor_mod"), [(divisor, same)]) if _is_divisor(divisor, same):
            if scalar.function == "floor_div":
                return low // divisor, high // divisor
            return remainder_interval(low, high, divisor)
        case "cast", []:
            return low, high
        case _:
            return None


def remainder_interval(low: Array, high: Array, divisor: Array) -> Interval:
    """Of what a division leaves: all that is possible where the quotient changes in between."""
    stays = low // divisor == high // divisor
    return np.where(stays, low % divisor, 0), np.where(stays, high % divisor, divisor - 1)


def _is_divisor(divisor: Array, same: Array) -> bool:
    return divisor.ndim == 0 and bool(divisor == same) and bool(divisor > 0)


def hull(one: Interval, other: Interval) -> Interval:
    """The least interval around two."""
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _least(values: list[Array]) -> Array:
    found: Any = np.minimum.reduce(np.broadcast_arrays(*values))
    return found


def _most(values: list[Array]) -> Array:
    found: Any = np.maximum.reduce(np.broadcast_arrays(*values))
    return found
