"""How often a race is right: models against themselves, and against copies with more work.

    python -m benchmarks.verdicts [--races N] [--seconds S] [--network NAME]*
                                  [--as both|deployed|bare] [--write]

Each network is raced N times against itself (the right answer is "no clear difference") and N times
against a copy that computes the same with a tenth more work (the right answer is "slower"), in
turns, every race in processes of its own. Both answers are right deployed, too: the runtime's own
rewrites leave the copy its eleventh layer. `--write` puts the table into results/verdicts.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.planted import NETWORKS, Planted
from optimizer.errors import StudioError
from optimizer.source import open_source
from profiling.config.question import ALL_AS, QUESTIONS, Question, config_for
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Variant
from profiling.racing.samples import Contrast
from profiling.workers import WorkerPool
from studio.graphview.summary import summary_of

RESULT = Path(__file__).parent / "results" / "verdicts.md"
_WANTED_SAME, _WANTED_SLOWER = 19 / 20, 18 / 20


@dataclass(slots=True)
class Tally:
    """Contrasts of one network.

    Attributes:
        question: deployed, or bare.
        work: FLOPs of the copy divided by the network's own.
        same: of races against itself.
        slower: of races against the copy.
        seconds: of all races.
    """

    network: Planted
    question: Question
    work: float
    same: list[Contrast] = field(default_factory=list[Contrast])
    slower: list[Contrast] = field(default_factory=list[Contrast])
    seconds: float = 0.0
    loads: list[float] = field(default_factory=list[float])


def main(argv: Sequence[str] | None = None) -> int:
    """Race and print the table; the exit status is 0 if the verdicts are as good as promised."""
    parser = argparse.ArgumentParser(description="How often a race is right.")
    parser.add_argument("--races", type=int, default=5, help="of each kind for each network")
    parser.add_argument("--seconds", type=float, default=20.0, help="most for one race")
    parser.add_argument("--network", action="append", default=[], help="only these")
    parser.add_argument("--as", dest="asked", choices=ALL_AS, default="both")
    parser.add_argument("--write", action="store_true", help=f"to {RESULT.name}")
    arguments = parser.parse_args(argv)
    networks = [one for one in NETWORKS if not arguments.network or one.name in arguments.network]
    if not networks or arguments.races < 1:
        parser.error(f"the networks are {', '.join(network.name for network in NETWORKS)}")
    pool = WorkerPool(size=2)
    try:
        asked = QUESTIONS if arguments.asked == "both" else (arguments.asked,)
        tallies = [
            Tally(network, question, more)
            for network in networks
            for more in [work(network, pool)]
            for question in asked
        ]
        for number in range(arguments.races):
            for tally in tallies:
                race_both(tally, pool, RacePlan(seconds=arguments.seconds))
                done = f"{number + 1}/{arguments.races}"
                print(done, tally.network.name, tally.question, file=sys.stderr)
    finally:
        pool.close()
    table = report(tallies)
    print(table)
    if arguments.write:
        RESULT.write_text(table)
    return 0 if good_enough(tallies) else 1


def work(network: Planted, pool: WorkerPool) -> float:
    """FLOPs of the copy divided by the network's own, as the studio counts them."""
    flops: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for extra in (0, 1):
            path = Path(folder) / f"{extra}.onnx"
            path.write_bytes(network.model(extra=extra))
            flops.append(summary_of(open_source(path, isolate=pool)).cost.flops)
    return flops[1] / flops[0]


def race_both(tally: Tally, pool: WorkerPool, plan: RacePlan) -> None:
    """One race against itself and one against the copy.

    Raises:
        StudioError: a variant failed, or did not compute the same.
    """
    model, copy = tally.network.model(extra=0), tally.network.model(extra=1)
    config = config_for(tally.question, {})
    for other, contrasts in ((model, tally.same), (copy, tally.slower)):
        variants = [Variant("a", model, config), Variant("b", other, config)]
        race = measure(variants, pool=pool, plan=plan)
        contrast = race.contrast("b")
        if contrast is None or not all(timing.believable for timing in race.timings):
            raise StudioError(f"{tally.network.name}: {race.verdict('b')}")
        contrasts.append(contrast)
        tally.seconds += race.seconds
        tally.loads.append(race.machine.load)


def good_enough(tallies: Sequence[Tally]) -> bool:
    """19 of 20 races against itself say nothing, 18 of 20 against the copy say slower."""
    same = [contrast.verdict for tally in tallies for contrast in tally.same]
    slower = [contrast.verdict for tally in tallies for contrast in tally.slower]
    return (
        same.count("no_clear_difference") >= _WANTED_SAME * len(same)
        and slower.count("slower") >= _WANTED_SLOWER * len(slower)
    )  # fmt: skip


def report(tallies: Sequence[Tally]) -> str:
    """The table in Markdown."""
    loads = [load for tally in tallies for load in tally.loads]
    lines = [
        f"{describe('passlens', 'onnxruntime-gpu')}, load {min(loads):.1f} to {max(loads):.1f}",
        "",
        "| network | as | itself: no clear difference | farthest from 1 | more work | "
        "copy: slower | found slower by | interval ± | s a race |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
        *(_row(tally) for tally in tallies),
    ]
    if len(tallies) > 1:
        same = [contrast for tally in tallies for contrast in tally.same]
        slower = [contrast for tally in tallies for contrast in tally.slower]
        lines.append(f"| all | | {_share(same, 'no_clear_difference')} | | | ")
        lines[-1] += f"{_share(slower, 'slower')} | | | |"
    return "\n".join(lines) + "\n"


def _row(tally: Tally) -> str:
    both = [*tally.same, *tally.slower]
    farthest = max(max(c.speedup, 1 / c.speedup) for c in tally.same)
    found = statistics.median(1 / contrast.speedup for contrast in tally.slower)
    width = statistics.median(contrast.half_width for contrast in both)
    cells = [
        tally.network.name,
        tally.question,
        _share(tally.same, "no_clear_difference"),
        f"{farthest:.3f}×",
        f"{tally.work:.3f}×",
        _share(tally.slower, "slower"),
        f"{found:.3f}×",
        f"{width:.1%}",
        f"{tally.seconds / len(both):.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _share(contrasts: Sequence[Contrast], verdict: str) -> str:
    return f"{sum(c.verdict == verdict for c in contrasts)} of {len(contrasts)}"


if __name__ == "__main__":
    sys.exit(main())
