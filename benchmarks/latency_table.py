"""The table of `benchmarks.latency`, beside what is promised."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.generated_forms import PRESETS, SOURCE
from benchmarks.peers import PEERS, RUNTIME_PEERS
from benchmarks.report import section
from optimizer.codec import Format
from profiling.racing.race import Race

MOST, MOST_MEAN = 1.02, 0.97
"""Of the best peer's time: what no network may exceed, and what all may come to."""

THEIRS: Mapping[str, tuple[str, ...]] = {
    "portable": (SOURCE, *PEERS),
    "cpu": (SOURCE, *PEERS, *RUNTIME_PEERS),
}
"""What each of our presets is held to; the source as it came is what one has without any."""


@dataclass(frozen=True, slots=True)
class Share:
    """A form's time as a share of another one's.

    Attributes:
        middle: of several races the median.
        low: of one race the lower end of its 95 % interval; of several the least of their shares.
            Of six races the median of all that there could be lies between least and most with a
            probability of 97 %.
        high: likewise.
    """

    middle: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.3f} ({self.low:.3f}–{self.high:.3f})"


@dataclass(frozen=True, slots=True)
class Latency:
    """A network's races.

    Attributes:
        mark: which files there were.
        races: each in processes of its own: two of one and the same file differ for as long as
            they live.
        same: label -> labels of others that are the same graph in the runtime.
        left_out: forms that were not raced, with the reason.
        frozen: forms in which what a caller may override is a constant; nobody is held to them.
    """

    network: str
    mark: str
    races: tuple[Race, ...]
    same: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]
    frozen: tuple[str, ...]

    def raced_as(self, form: str) -> str | None:
        """The label under which a form was raced; None where its outputs were not right."""
        found = next((one for one, same in self.same.items() if form in (one, *same)), None)
        timings = [one for race in self.races for one in race.timings if one.label == found]
        return (
            found if timings and all(one.believable and one.blocks_ms for one in timings) else None
        )

    def time(self, form: str, *, of: str) -> Share | None:
        """A form against another one; None where either has no times that count."""
        label, other = self.raced_as(form), self.raced_as(of)
        if label is None or other is None:
            return None
        contrasts = [race.contrast(label, baseline=other) for race in self.races]
        known = [one for one in contrasts if one is not None]
        if len(known) == 1:
            return Share(1 / known[0].speedup, 1 / known[0].high, 1 / known[0].low)
        shares = [1 / one.speedup for one in known]
        return Share(statistics.median(shares), min(shares), max(shares)) if shares else None

    def best(self, forms: Sequence[str]) -> str | None:
        """The fastest of some forms."""
        times = {form: found for form in forms if (found := self.time(form, of=SOURCE))}
        return min(times, key=lambda form: times[form].middle, default=None)

    def against_best(self, preset: str) -> tuple[str, Share] | None:
        """The fastest that a preset is held to, and the preset against it."""
        best = self.best([form for form in THEIRS[preset] if form not in self.frozen])
        found = None if best is None else self.time(preset, of=best)
        return None if best is None or found is None else (best, found)


LATENCY = Format(Latency, "passlens.latency/2", "races of a network's forms")


def report(found: Sequence[Latency]) -> Iterator[str]:
    """Shares of the source's time, each preset against the best, and what that comes to."""
    yield from table(found)
    for preset in PRESETS:
        yield from section(
            f"{preset}, as a share of the best that it is held to:", [*held(found, preset)]
        )
    remarks = [f"- {one.network}: {race.busy}" for one in found for race in one.races if race.busy]
    yield from section("Disturbed:", remarks)
    yield from section(
        "Without a time that counts:",
        [f"- {one.network}: {told}" for one in found for told in _without(one)],
    )


def table(found: Sequence[Latency]) -> Iterator[str]:
    """Every form, as a share of the source's time; in brackets those of other inputs.

    A dash stands for what does not compute the same.
    """
    forms = [*PRESETS, *PEERS, *RUNTIME_PEERS]
    yield f"| network | {SOURCE}, ms | {' | '.join(forms)} |"
    yield "|---|--:|" + "--:|" * len(forms)
    for one in found:
        timings = [t for race in one.races for t in race.timings if t.label == SOURCE]
        known = [timing.summary.p50_ms for timing in timings if timing.summary is not None]
        cells = [one.network, f"{statistics.median(known):.3g}" if known else "—"]
        for form in forms:
            cell = str(one.time(form, of=SOURCE) or "—")
            cells.append(f"[{cell}]" if form in one.frozen else cell)
        yield f"| {' | '.join(cells)} |"


def held(found: Sequence[Latency], preset: str) -> Iterator[str]:
    """How often the goals are met, and where not."""
    shares: dict[str, float] = {}
    over: list[str] = []
    for one in found:
        against = one.against_best(preset)
        if against is None:
            continue
        best, share = against
        shares[one.network] = share.middle
        if share.middle > MOST:
            sure = "" if share.low > MOST else ", which the interval leaves open"
            over.append(f"- {one.network}: {share} of {best}{sure}")
    if not shares:
        return
    mean = math.exp(statistics.fmean(map(math.log, shares.values())))
    yield f"- geometric mean of {len(shares)}: {mean:.3f} ({_met(mean, MOST_MEAN)})"
    most = max(shares.values())
    yield f"- the most: {most:.3f} ({_met(most, MOST)})"
    yield from over


def _met(value: float, most: float) -> str:
    return f"at most {most:.2f} promised: {'met' if value <= most else 'not met'}"


def _without(one: Latency) -> Iterator[str]:
    yield from one.left_out
    for race in one.races:
        for timing in race.timings:
            if not timing.believable:
                yield f"{timing.label}: {race.verdict(timing.label)}"
