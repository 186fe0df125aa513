"""How far apart are copies of one file, raced as if they were different ones?

    python -m benchmarks.latency_copies NETWORK... [--copies N] [--races N] [--seconds S]

What `benchmarks.latency` cannot tell on a machine: each form has a process of its own, whose memory
lies where it happens to, and is held to the fastest of several. Here all are the same bytes, so
whatever one is above the fastest is chance.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.models import sizes_of
from optimizer.model.loader import load_path
from optimizer.verify import jobs
from profiling.kernels.generated.rivals import usual_config
from profiling.racing.measure import measure
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant
from profiling.workers import default_pool


def raced(network: Path, *, copies: int, races: int, seconds: float, threads: int) -> list[Race]:
    """Race copies of a network, each time in new processes that start in another order.

    Args:
        network: a file with its weights in it.
        copies: how many.
        races: how many.
        seconds: of each race.
        threads: of a session.

    Raises:
        StudioError: it does not run.
    """
    config = usual_config(threads)
    request = jobs.Request(seeds=1, bindings=sizes_of(load_path(network)))
    plan = RacePlan(seconds=seconds, request=request)
    found: list[Race] = []
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"copy-{number}.onnx") for number in range(copies)]
        for file in files:
            shutil.copy(network, file)
        first, *others = [Variant(file.stem, file, config) for file in files]
        for number in range(races):
            found.append(measure([first, *others], pool=default_pool(), plan=plan))
            random.Random(number).shuffle(others)  # noqa: S311 no secret
    return found


def above_fastest(races: Sequence[Race]) -> dict[str, list[float]]:
    """The median time of each copy in each race, as a share of that race's fastest."""
    shares: dict[str, list[float]] = {}
    for race in races:
        times = {one.label: one.summary.p50_ms for one in race.timings if one.summary is not None}
        for label, time in times.items():
            shares.setdefault(label, []).append(time / min(times.values()))
    return shares


def main() -> None:
    """Race each network against copies of itself."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("networks", nargs="+", type=Path, help="files with their weights in them")
    made.add_argument("--copies", type=int, default=8, help="of each network")
    made.add_argument("--races", type=int, default=5, help="of each network")
    made.add_argument("--seconds", type=float, default=20.0, help="of each race")
    made.add_argument("--threads", type=int, default=1, help="of a session")
    arguments = made.parse_args()
    print(describe("onnxruntime-gpu"))
    for network in arguments.networks:
        races = raced(
            network,
            copies=arguments.copies,
            races=arguments.races,
            seconds=arguments.seconds,
            threads=arguments.threads,
        )
        shares = above_fastest(races)
        middle = max(map(statistics.median, shares.values()))
        most = max(max(known) for known in shares.values())
        print(
            f"{network.stem}: of {len(shares)} copies one is {middle:.3f} of the fastest in the "
            f"median of {len(races)} races, {most:.3f} in a single one"
        )


if __name__ == "__main__":
    main()
