"""What do ONNX Runtime's blocks of channels bring, network by network?

    python -m benchmarks.nchwc [FOLDER...] [--seconds S] [--write FILE]

Every network of the folders, by default of the gallery, in which the runtime (level all) puts
something in blocks (ReorderInput, ReorderOutput), in a race against itself with NchwcTransformer
left out: the two take turns, round by round. The table has medians and how many times as fast the
blocks are, with the 95 % interval of the ratio. `--seconds` are those of one race once both are
warm; a network takes about twice as long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.layouts import networks
from benchmarks.machine import describe
from benchmarks.report import parser, publish, rows_of, section
from benchmarks.runtime_operators import Operators, left_by_runtime
from optimizer.errors import StudioError
from optimizer.verify.jobs import Request
from profiling.config import RunConfig
from profiling.racing.measure import measure
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant
from profiling.racing.samples import Contrast, summarize
from profiling.workers import default_pool

ON = RunConfig(graph_optimization="all", intra_threads=1)
OFF = replace(ON, optimizers_off="NchwcTransformer")


@dataclass(frozen=True, slots=True)
class Row:
    """One network.

    Attributes:
        left: operators of the runtime's own graph.
        ms: medians without blocks and with them.
        contrast: how many times as fast with them.
    """

    name: str
    left: Operators
    ms: tuple[float, float]
    contrast: Contrast


def row(seconds: float, name: str, path: Path) -> Row | None:
    """Race one network; None where the runtime has no blocks for it.

    Raises:
        StudioError: the runtime refuses it, or its outputs differ.
    """
    left = left_by_runtime(path)
    if not left["ReorderOutput"] and not left["ReorderInput"]:
        return None
    plan = RacePlan(transfers=False, request=Request(seeds=1), seconds=seconds)
    variants = [Variant("without blocks", path, OFF), Variant("blocks", path, ON)]
    race = measure(variants, pool=default_pool(), plan=plan)
    found = race.contrast("blocks", baseline="without blocks")
    if found is None:
        raise StudioError(next(t.error for t in race.timings if t.error))
    off, on = (_median(race, place) for place in range(2))
    return Row(name, left, (off, on), found)


def _median(race: Race, place: int) -> float:
    found = summarize(race.timings[place].latencies_ms)
    return found.p50_ms if found is not None else 0.0


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as a Markdown table."""
    yield "| network | Reorders, in + out | without, ms | with, ms | times as fast | 95 % |"
    yield "|---|--:|--:|--:|--:|---|"
    for one in rows:
        reorders = f"{one.left['ReorderInput']} + {one.left['ReorderOutput']}"
        off, on = one.ms
        found = one.contrast
        times = f"{off:.2f} | {on:.2f} | {found.speedup:.2f}"
        yield f"| {one.name} | {reorders} | {times} | {found.low:.2f}–{found.high:.2f} |"


def main() -> int:
    """Print the report."""
    made = parser(__doc__)
    made.add_argument("--seconds", type=float, default=20.0, help="of one race")
    arguments = made.parse_args()
    found, left_out = rows_of(networks(arguments.folders), partial(row, arguments.seconds))
    rows = [one for one in found if one is not None]
    head = f"{describe('passlens', 'onnxruntime-gpu')}, one thread."
    none = len(found) - len(rows)
    lines = [head, "", *table(rows), "", f"{none} more networks have nothing in blocks."]
    publish([*lines, *section("Not measured:", left_out)], arguments.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
