"""Do two models compute the same? Both are run on the same seeded feeds, in a worker process.

verify ── isolate ──▶ jobs: plan feeds ─▶ run the reference ─▶ run the candidate ─▶ compare
bisect ── isolate ──▶ the same, the reference once and a candidate for each step asked

Nothing is imported before it is used: a process that times a model needs `values` alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimizer.verify.bisection import Bisection, bisect
    from optimizer.verify.budget import LOSSY, ErrorBudget, budget_of
    from optimizer.verify.comparison import Comparison, Tolerance
    from optimizer.verify.feeds import Feed
    from optimizer.verify.verification import Verdict, Verification, verify

__all__ = [
    "LOSSY",
    "Bisection",
    "Comparison",
    "ErrorBudget",
    "Feed",
    "Tolerance",
    "Verdict",
    "Verification",
    "bisect",
    "budget_of",
    "verify",
]

_HOMES = {
    "bisection": ("Bisection", "bisect"),
    "budget": ("LOSSY", "ErrorBudget", "budget_of"),
    "comparison": ("Comparison", "Tolerance"),
    "feeds": ("Feed",),
    "verification": ("Verdict", "Verification", "verify"),
}


def __getattr__(name: str) -> object:
    """What is asked for, imported now."""
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
