"""What plans take, estimated from those that were raced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from profiling.precision.plans import CHOICES, Choice, PrecisionPlan

_LEAST = 0.05
_OF_CHOICES, _OF_REGIONS = 1e-4, 1e-3
"""How much less is believed in what tells regions apart than in what a choice does everywhere."""


class TimeModel:
    """A plan's share of the time of the model as it came: each region's, times a factor.

    A factor belongs to a choice, and deviates from region to region as far as races show it.
    Ridge regression: Hoerl and Kennard 1970.

    Args:
        shares: of the regions, which add up to 1.
    """

    def __init__(self, shares: Sequence[float]) -> None:
        self._shares = np.array(shares)
        self._learnt: NDArray[np.float64] = np.zeros(len(CHOICES) * (1 + len(shares)))

    def learn(self, times: Mapping[PrecisionPlan, float]) -> None:
        """Fit to all that was raced."""
        rows = np.array([self._row(plan) for plan in times])
        missed = np.array([time - 1 for time in times.values()])
        believed = np.full(rows.shape[1], _OF_REGIONS)
        believed[: len(CHOICES)] = _OF_CHOICES
        learnt = np.linalg.solve(rows.T @ rows + np.diag(believed), rows.T @ missed)
        self._learnt = learnt.astype(np.float64)

    def factor(self, choice: Choice) -> float:
        """What a region takes with a choice, of what it took."""
        return max(_LEAST, 1 + float(self._learnt[CHOICES.index(choice)]))

    def estimate(self, plan: PrecisionPlan) -> float:
        """What a plan takes, of what the model as it came takes."""
        return max(_LEAST, 1 + float(self._row(plan) @ self._learnt))

    def _row(self, plan: PrecisionPlan) -> NDArray[np.float64]:
        """The regions' shares under their choices, in all and each region for itself."""
        table = np.zeros((1 + len(self._shares), len(CHOICES)))
        for region, choice in enumerate(plan.choices):
            if choice != "float32":
                table[1 + region, CHOICES.index(choice)] = self._shares[region]
        table[0] = table[1:].sum(axis=0)
        return table.ravel()
