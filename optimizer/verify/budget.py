"""How much error a lossy step may make, as a person says it: `5 %` or `25 dB`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from optimizer.errors import StudioError, quoted
from optimizer.numbers import three_digits

_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(%|db)\s*", re.IGNORECASE)
_MOST = {"%": 100.0, "dB": 200.0}
_ALIKE_DB = 0.05


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The error that an output may have.

    Attributes:
        amount: at most so many percent of the output's scale, or at least so many decibels.
        unit: percent: the largest difference over the largest magnitude of the reference;
            decibels: signal-to-quantization-noise ratio, 10 log10(Σ x² / Σ (x − y)²). Both over
            all samples together: an output's scale and its signal are no property of one of them.
    """

    amount: float
    unit: Literal["%", "dB"]

    def __str__(self) -> str:
        """As a person writes it."""
        return f"{three_digits(self.amount)} {self.unit}"

    def holds(self, *, scaled: float, sqnr_db: float) -> bool:
        """Whether an error of that size is within it."""
        return scaled <= self.amount / 100 if self.unit == "%" else sqnr_db >= self.amount

    def measured(self, *, scaled: float, sqnr_db: float) -> str:
        """An error in the budget's own terms."""
        if self.unit == "%":
            return f"{three_digits(100 * scaled)} % of the scale"
        return "no error" if sqnr_db == math.inf else f"{decibels(sqnr_db)}"

    def over_all(self, *, scaled: float, sqnr_db: float, worst_db: float) -> str:
        """The error of several samples together; in decibels also the worst one's."""
        error = self.measured(scaled=scaled, sqnr_db=sqnr_db)
        if self.unit == "%":
            return f"{error} at worst"
        worst = decibels(worst_db) if math.isfinite(worst_db) else "no ratio"
        return error if worst_db >= sqnr_db - _ALIKE_DB else f"{error} ({worst} the worst sample)"


LOSSY = ErrorBudget(5.0, "%")
"""What lossy steps are held to where nobody said."""


def decibels(ratio: float) -> str:
    """A ratio in decibels, to a tenth: `31.2 dB`."""
    return f"{'−' if ratio < 0 else ''}{abs(ratio):.1f} dB"


def budget_of(text: str) -> ErrorBudget:
    """The budget that a text says.

    Raises:
        StudioError: it is none.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise StudioError(f"{quoted(text)} is no budget of error; write for example 5% or 25dB.")
    unit: Literal["%", "dB"] = "%" if found[2] == "%" else "dB"
    amount = float(found[1])
    if not 0 < amount <= _MOST[unit]:
        most = f"{_MOST[unit]:.0f} {unit}"
        raise StudioError(f"A budget of {quoted(text)} is out of reach: more than 0, up to {most}.")
    return ErrorBudget(amount, unit)
