"""Parameters of a test by lane: those of `make test`, and those that `make slow` adds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


def slow_but(
    fast: Collection[str], values: Iterable[T], named: Callable[[T], str] = str
) -> list[object]:
    """All values, each under its name; those whose name is not among `fast` are slow.

    Raises:
        ValueError: a name is none of a value.
    """
    found = {named(value): value for value in values}
    if unknown := set(fast) - set(found):
        raise ValueError(f"no value is called {sorted(unknown)}")
    return [
        pytest.param(value, id=name, marks=[] if name in fast else [pytest.mark.slow])
        for name, value in found.items()
    ]
