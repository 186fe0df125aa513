"""Do two models compute the same? Both are run on the same seeded feeds, in a worker process.

verify ── isolate ──▶ jobs: plan feeds ─▶ run the reference ─▶ run the candidate ─▶ compare
bisect ── isolate ──▶ the same, the reference once and a candidate for each step asked
"""

from __future__ import annotations

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
