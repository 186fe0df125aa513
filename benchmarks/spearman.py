"""Whether two series of numbers come in the same order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation, equal numbers sharing their ranks; 0 where all are equal.

    Source: Spearman 1904.
    """
    a, b = _ranks(one), _ranks(other)
    if a.std() == 0 or b.std() == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    array = np.asarray(values, float)
    return np.array([np.sum(array < one) + (np.sum(array == one) - 1) / 2 for one in array])
