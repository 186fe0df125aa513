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
from profiling.racing.samples import Contrast

MOST, MOST_MEAN = 1.02, 0.97
"""Of the best peer's time: what no network may exceed, and what all may come to."""

THEIRS: Mapping[str, tuple[str, ...]] = {
    "portable": (SOURCE, *PEERS),
    "cpu": (SOURCE, *PEERS, *RUNTIME_PEERS),
}
"""What each of our presets is held to; the source as it came is what one has without any."""


@dataclass(frozen=True, slots=True)
class Latency:
    """A network's race.

    Attributes:
        mark: which files there were.
        same: label -> labels of others that are the same graph in the runtime.
        left_out: forms that were not raced, with the reason.
        frozen: forms in which what a caller may override is a constant; nobody is held to them.
    """

    network: str
    mark: str
    race: Race
    same: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]
    frozen: tuple[str, ...]

    def raced_as(self, form: str) -> str | None:
        """The label under which a form was raced; None where its outputs were not right."""
        found = next((one for one, same in self.same.items() if form in (one, *same)), None)
        timing = next((one for one in self.race.timings if one.label == found), None)
        return found if timing is not None and timing.believable and timing.blocks_ms else None

    def time(self, form: str, *, of: str) -> Contrast | None:
        """A form against another one; None where either has no times that count."""
        label, other = self.raced_as(form), self.raced_as(of)
        if label is None or other is None:
            return None
        return self.race.contrast(label, baseline=other)

    def best(self, forms: Sequence[str]) -> str | None:
        """The fastest of some forms."""
        medians: dict[str, float] = {}
        for form in forms:
            label = self.raced_as(form)
            found = None if label is None else self.race.contrast(label, baseline=SOURCE)
            if found is not None:
                medians[form] = found.speedup
        return max(medians, key=lambda form: medians[form], default=None)

    def against_best(self, preset: str) -> tuple[str, Contrast] | None:
        """The fastest that a preset is held to, and the preset against it."""
        best = self.best([form for form in THEIRS[preset] if form not in self.frozen])
        found = None if best is None else self.time(preset, of=best)
        return None if best is None or found is None else (best, found)


LATENCY = Format(Latency, "passlens.latency/1", "race of a network's forms")


def report(found: Sequence[Latency]) -> Iterator[str]:
    """Shares of the source's time, each preset against the best, and what that comes to."""
    yield from table(found)
    for preset in PRESETS:
        yield from section(
            f"{preset}, as a share of the best that it is held to:", [*held(found, preset)]
        )
    remarks = [f"- {one.network}: {one.race.busy}" for one in found if one.race.busy]
    yield from section("Disturbed:", remarks)
    yield from section(
        "Without a time that counts:",
        [f"- {one.network}: {told}" for one in found for told in _without(one)],
    )


def table(found: Sequence[Latency]) -> Iterator[str]:
    """Every form, as a share of the source's time; in brackets those of other inputs."""
    forms = [*PRESETS, *PEERS, *RUNTIME_PEERS]
    yield f"| network | {SOURCE}, ms | {' | '.join(forms)} |"
    yield "|---|--:|" + "--:|" * len(forms)
    for one in found:
        summary = next((t.summary for t in one.race.timings if t.label == SOURCE), None)
        cells = [one.network, "—" if summary is None else f"{summary.p50_ms:.3g}"]
        for form in forms:
            cell = _cell(one.time(form, of=SOURCE))
            cells.append(f"[{cell}]" if form in one.frozen else cell)
        yield f"| {' | '.join(cells)} |"


def _cell(found: Contrast | None) -> str:
    """A share and its interval; a dash for what does not compute the same."""
    if found is None:
        return "—"
    return f"{1 / found.speedup:.3f} ({1 / found.high:.3f}–{1 / found.low:.3f})"


def held(found: Sequence[Latency], preset: str) -> Iterator[str]:
    """How often the goals are met, and where not."""
    shares: dict[str, float] = {}
    over: list[str] = []
    for one in found:
        against = one.against_best(preset)
        if against is None:
            continue
        best, contrast = against
        shares[one.network] = 1 / contrast.speedup
        if 1 / contrast.speedup > MOST:
            sure = "" if 1 / contrast.high > MOST else ", which the interval leaves open"
            over.append(f"- {one.network}: {_cell(contrast)} of {best}{sure}")
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
    for timing in one.race.timings:
        if not timing.believable:
            yield f"{timing.label}: {one.race.verdict(timing.label)}"
