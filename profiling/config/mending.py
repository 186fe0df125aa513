"""From options that contradict each other to ones that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from profiling.config.contradiction import Changes, Contradiction, Contradictory
from profiling.config.option import Value
from profiling.config.run_config import RunConfig


def contradiction_of(values: Mapping[str, Value]) -> Contradiction | None:
    """The first contradiction among options by name; None where there is none.

    Raises:
        ConfigError: a value is impossible.
    """
    given: Any = values
    try:
        RunConfig(**given)
    except Contradictory as error:
        return error.contradiction
    return None


def mended(values: Mapping[str, Value], first: Changes) -> dict[str, Value]:
    """The options with `first` set, and with what else that calls for; consistent.

    What was set against one contradiction is not taken back against the next, so it ends.

    Args:
        values: options by name.
        first: one of the mends of their contradiction.
    """
    found, settled = {**values, **first}, set(first)
    while (problem := contradiction_of(found)) is not None:
        change = next(mend for mend in problem.mends if settled.isdisjoint(mend))
        found |= change
        settled |= set(change)
    return found
