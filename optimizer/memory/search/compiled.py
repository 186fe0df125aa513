"""How the search is compiled, and the hash it remembers states by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

_F = TypeVar("_F", bound=Callable[..., object])


def compiled(function: _F) -> _F:
    """Machine code, kept on disk where that can be written; other threads go on while it runs."""
    try:
        made = numba.njit(cache=True, nogil=True)(function)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] numba has no types
    except RuntimeError:  # neither beside the code nor in the user's folder
        made = numba.njit(nogil=True)(function)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] numba has no types
    return cast("_F", made)


@compiled
def mixed(value: int) -> int:
    """64 bits that depend on all 64 bits (the finalizer of SplitMix64)."""
    value ^= (value >> 30) & 0x3FFFFFFFF
    value *= -4658895280553007687
    value ^= (value >> 27) & 0x1FFFFFFFFF
    value *= -7723592293110705685
    return value ^ ((value >> 31) & 0x1FFFFFFFF)
