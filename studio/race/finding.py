"""What a race found, in words: who is fastest, and what of it is sure.

Variants are ranked by their medians, as figures and tables show them. What is sure comes from the
rounds, compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence

from profiling.racing.race import Race, Timing
from profiling.racing.samples import Contrast


def finding(*races: Race) -> str:
    """One line: "Portable preset: 1.31× faster, 95 % interval 1.27–1.36".

    Of two races, one for each question: "Portable preset, deployed: no clear difference; bare:
    1.50× faster".

    Args:
        races: of the same variants, deployed first.
    """
    if len(races) == 1:
        return _one(races[0])
    pair = {len(race.timings) for race in races} == {2}
    told = "; ".join(f"{race.question}: {_claim(race, named=not pair)}" for race in races)
    return _start(f"{races[0].timings[1].label}, {told}" if pair else told)


def _one(race: Race) -> str:
    timed = comparable(race)
    if not timed:
        return _nothing(race)
    if len(race.timings) == 2:
        return f"{_start(timed[0].label)}: {race.verdict(timed[0].label)}"
    leader, sure = leader_of(race), _sure(race)
    if leader is race.baseline:
        return _nothing_beats(race, timed)
    if leader is sure:
        return f"Best of {len(timed) + 1}: {leader.label}, {race.verdict(leader.label)}" + _tie(
            race, leader
        )
    if sure is None:
        return f"No clear gain over {race.baseline.label}; lowest median: {leader.label}" + (
            f", {_claim_of(race, leader)}" if _contrast(race, leader).undecided else ""
        )
    return (
        f"Lowest median: {leader.label}, {_claim_of(race, leader)}; "
        f"sure: {sure.label}, {race.verdict(sure.label)}"
    )


def comparable(race: Race) -> list[Timing]:
    """Variants beside the baseline whose times count; none where the baseline's do not."""
    baseline = race.baseline
    if not baseline.blocks_ms or not baseline.believable:
        return []
    return [t for t in race.timings if t is not baseline and t.believable and t.blocks_ms]


def leader_of(race: Race) -> Timing:
    """Who has the lowest median, unless the rounds say clearly that another one is faster."""
    ranked = sorted([race.baseline, *comparable(race)], key=_median_ms)
    leader = ranked[0]
    for other in ranked[1:]:
        if _verdict(race, other, against=leader) == "faster":
            leader = other
    return leader


def _sure(race: Race) -> Timing | None:
    """The lowest median of those that are clearly faster than the baseline."""
    leader = leader_of(race)
    faster = [t for t in comparable(race) if _verdict(race, t, against=race.baseline) == "faster"]
    return leader if leader in faster else min(faster, key=_median_ms, default=None)


def _nothing_beats(race: Race, timed: Sequence[Timing]) -> str:
    if all(_verdict(race, t, against=race.baseline) == "slower" for t in timed):
        return f"Nothing beats {race.baseline.label}: {_count(timed)} slower"
    return f"No clear gain over {race.baseline.label}: {_count(timed)} not clearly faster"


def _tie(race: Race, leader: Timing) -> str:
    """Who might be as fast, of those with the next median."""
    rivals = [t for t in comparable(race) if t is not leader]
    rival = min(rivals, key=_median_ms, default=None)
    if rival is None or _verdict(race, leader, against=rival) == "faster":
        return ""
    return f"; not clearly ahead of {rival.label}"


def _claim(race: Race, *, named: bool) -> str:
    """The short answer of one race among several."""
    timed = comparable(race)
    if not timed:
        return "no comparison"
    leader = leader_of(race)
    if not named:
        return _claim_of(race, timed[0])
    if leader is race.baseline:
        return f"nothing beats {leader.label}"
    best = _sure(race) or leader
    told = _contrast(race, best)
    unclear = told.verdict == "no_clear_difference" and not told.undecided
    return "no clear gain" if unclear else f"{best.label}, {told.claim}"


def _claim_of(race: Race, timing: Timing) -> str:
    return _contrast(race, timing).claim


def _nothing(race: Race) -> str:
    broken = [t.label for t in race.timings if not t.believable]
    silent = [t.label for t in race.timings if not t.blocks_ms]
    names = broken or silent[:1] or [race.timings[0].label]
    return f"No comparison: {' and '.join(names)} gave no times to compare"


def _verdict(race: Race, timing: Timing, *, against: Timing) -> str:
    return _contrast(race, timing, against=against).verdict


def _contrast(race: Race, timing: Timing, *, against: Timing | None = None) -> Contrast:
    """Between two that have times."""
    found = race.contrast(timing.label, baseline=(against or race.baseline).label)
    assert found is not None
    return found


def _median_ms(timing: Timing) -> float:
    assert timing.summary is not None  # only of what has times
    return timing.summary.p50_ms


def _count(timed: Sequence[Timing]) -> str:
    return "one other is" if len(timed) == 1 else f"{len(timed)} others are"


def _start(text: str) -> str:
    return text[:1].upper() + text[1:]
