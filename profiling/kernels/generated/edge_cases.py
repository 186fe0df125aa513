"""Sizes and numbers at which generated code goes wrong: the tails of loops, NaN, infinities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

SIZES = (0, 1, 2, 3, 7, 16, 17, 31, 64, 97)
"""Nothing, one, less than a vector, a vector, primes and one more or less than several vectors."""
LARGE = 4099
"""A prime beyond every block of a loop."""
MOST_ELEMENTS = 1 << 21
"""Of one input: a large size is left out where fixed ones make it larger."""
USUAL = 5
"""What a free size is while another one is tried."""

_EVERY = 3
"""Rows of which one gets a special value."""


_SPECIAL: Mapping[str, Callable[[Any], float]] = {
    "NaN": lambda _: math.nan,
    "+inf": lambda _: math.inf,
    "-inf": lambda _: -math.inf,
    "0": lambda _: 0.0,
    "-0": lambda _: -0.0,
    "a denormal number": lambda limits: float(limits.smallest_normal) / 8,
    "a negative denormal number": lambda limits: -float(limits.smallest_normal) / 8,
    "the largest number": lambda limits: float(limits.max),
    "the lowest number": lambda limits: float(limits.min),
}
_EXTREME = ("the largest number", "the lowest number")
SPECIAL_VALUES = tuple(_SPECIAL)
"""Numbers that are rarely thought of, by name."""


@dataclass(frozen=True, slots=True)
class EdgeCase:
    """One run of a kernel.

    Attributes:
        sizes: of its free sizes.
        planted: into which input a special value goes; empty for none.
        special: which, by name.
    """

    sizes: Mapping[str, int]
    planted: str = ""
    special: str = ""

    @property
    def overflows(self) -> bool:
        """Whether results come near the largest number, where overflow is a matter of order."""
        return self.special in _EXTREME

    def __str__(self) -> str:
        told = [f"{name} = {size}" for name, size in self.sizes.items()]
        told += [f"{self.special} in {self.planted}"] if self.special else []
        return " and ".join(told)


def size_cases(names: Sequence[str], usual: Mapping[str, int]) -> Iterator[EdgeCase]:
    """Every free size at every edge, one after the other and all together.

    Args:
        names: of the free sizes.
        usual: what they are on the sizes that are raced.
    """
    if not names:
        yield EdgeCase({})
        return
    yield EdgeCase({name: usual.get(name, USUAL) for name in names})
    for size in SIZES:
        yield EdgeCase(dict.fromkeys(names, size))
    for name in names if len(names) > 1 else ():
        for size in SIZES:
            yield EdgeCase({**dict.fromkeys(names, USUAL), name: size})
    for name in names:
        yield EdgeCase({**dict.fromkeys(names, 2), name: LARGE})


def special_cases(names: Sequence[str], inputs: Sequence[str]) -> Iterator[EdgeCase]:
    """Every special value in every input of floating-point numbers, at small sizes."""
    for planted in inputs:
        for special in SPECIAL_VALUES:
            yield EdgeCase(dict.fromkeys(names, USUAL), planted, special)


def planted(array: NDArray[Any], special: str) -> NDArray[Any]:
    """The array with a special value in every third row and, in the last row, as last element.

    Never twice in a row: what is larger than every number would depend on the order of a sum.
    """
    found = np.array(array)
    if not found.size:
        return found
    number = _SPECIAL[special](ml_dtypes.finfo(array.dtype))
    rows = found.reshape(-1, found.shape[-1] if found.ndim else 1)
    for place in range(0, len(rows) - 1, _EVERY):
        rows[place, (7 * place) % rows.shape[1]] = number
    rows[-1, -1] = number
    return rows.reshape(found.shape)
