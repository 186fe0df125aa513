"""Near misses of a run, counted by pass and by the condition that failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from optimizer.rewrite.trace import DeclinedMatch


@dataclass(frozen=True, slots=True)
class NearMisses:
    """Places at which a pass stopped at the same condition.

    Attributes:
        pass_id: the pass.
        reason: the condition, without what is special about a place.
        unlock: what a user can do about it; "" where the rules know nothing.
        places: the matches, in the order in which they were declined.
    """

    pass_id: str
    reason: str
    unlock: str
    places: tuple[DeclinedMatch, ...]


def near_misses(declined: Iterable[DeclinedMatch]) -> list[NearMisses]:
    """By pass, as they first declined; of each the most frequent reason first."""
    by_pass: dict[str, dict[str, list[DeclinedMatch]]] = {}
    for match in declined:
        by_pass.setdefault(match.pass_id, {}).setdefault(match.condition, []).append(match)
    return [
        NearMisses(pass_id, reason, next((m.unlock for m in found if m.unlock), ""), tuple(found))
        for pass_id, reasons in by_pass.items()
        for reason, found in sorted(reasons.items(), key=lambda item: -len(item[1]))
    ]
