"""Of everything tried: what nothing else beats in size, speed and error at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from profiling.precision.evaluation import PlanEvaluation


def front(found: Sequence[PlanEvaluation]) -> tuple[int, ...]:
    """Places of those that no other one beats: at least as good in all three, better in one.

    What was not raced counts as fast as the model as it came, at best: it cannot push a raced one
    out by a speed that nobody measured.
    """
    places = [place for place, one in enumerate(found) if not one.failure]
    if not places:
        return ()
    costs = np.array([_costs(found[place]) for place in places])
    beaten = [bool(((costs <= own).all(axis=1) & (costs < own).any(axis=1)).any()) for own in costs]
    return tuple(place for place, lost in zip(places, beaten, strict=True) if not lost)


def _costs(found: PlanEvaluation) -> tuple[float, float, float]:
    """Size, share of the time, and noise; less is better."""
    time = 1.0 if found.speed is None else 1 / found.speed.speedup
    return found.size_bytes, time, -found.sqnr_db
