"""MiniMalloc's instances: `python -m benchmarks.minimalloc [--seconds S] [--seeds N] [--write]`.

Does the exact planner fit all eleven into 1,048,576, how long does it take, does that depend on its
random choices, and is anything smaller possible (`--smallest S`)? One thread; the first search of a
process compiles, before the clock starts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.machine import describe
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.intervals import read_intervals
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, make_plan, planners

CAPACITY = 1_048_576
LOCAL_SECONDS = 5.0
INSTANCES = Path(__file__).parent / "minimalloc"
RESULTS = Path(__file__).parent / "results" / "minimalloc.md"

_HEAD = """# MiniMalloc's instances

`python -m benchmarks.minimalloc {arguments}`; {machine}. Sizes are parts of the capacity,
1,048,576. CPU seconds are of one thread, the compiling of the search not included."""
_COLUMNS = "| instance | buffers | bound | best fast planner | exact | fits | CPU s | decisions |"
_SPREAD = """## Over {seeds} seeds

Seed 0 is what everything else uses. Seconds of a run that does not fit count in full. Of the wall
clock the exact search has {seconds:.0f} s, the local search {local:.0f} s.

| instance | exact: fits | median CPU s | worst CPU s | local search: fits | median | worst |
|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, slots=True)
class Run:
    """A search for a plan that fits, and the CPU time it took."""

    plan: Plan
    cpu_s: float

    @property
    def fits(self) -> bool:
        """Into the capacity."""
        return self.plan.peak_bytes <= CAPACITY


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance, and what became of it: runs by seed."""

    name: str
    buffers: tuple[Buffer, ...]
    exact: tuple[Run, ...]
    local: tuple[Run, ...]
    smallest: Plan | None


def main(arguments: Sequence[str]) -> int:
    """Plan all, print the tables; the exit status says whether all fit."""
    parser = argparse.ArgumentParser(prog="benchmarks.minimalloc", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="to fit an instance")
    parser.add_argument("--smallest", type=float, default=0.0, help="to make it smaller still")
    parser.add_argument("--seeds", type=int, default=1, help="how many random choices to try")
    parser.add_argument("--write", action="store_true", help="write the tables")
    parsed = parser.parse_args(arguments)
    files = sorted(INSTANCES.glob("?.*.csv"))
    make_plan("exact", read_intervals(files[2]), Budget(goal_bytes=CAPACITY))
    found: list[Instance] = []
    for path in files:
        print(path.name, file=sys.stderr)
        found.append(_planned(path, parsed))
    lines = [_HEAD.format(arguments=" ".join(arguments), machine=describe("numba")), ""]
    lines += _table(found)
    if parsed.seeds > 1:
        head = _SPREAD.format(seeds=parsed.seeds, seconds=parsed.seconds, local=LOCAL_SECONDS)
        lines += ["", head, *(_spread(one) for one in found)]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if parsed.write:
        RESULTS.write_text(text)
    return 0 if all(one.exact[0].fits for one in found) else 1


def _planned(path: Path, parsed: argparse.Namespace) -> Instance:
    buffers, seeds = read_intervals(path), range(parsed.seeds)
    exact = tuple(_run("exact", buffers, parsed.seconds, seed) for seed in seeds)
    local = tuple(
        _run("local-search", buffers, LOCAL_SECONDS, seed) for seed in seeds if parsed.seeds > 1
    )
    least = make_plan("exact", buffers, Budget(parsed.smallest)) if parsed.smallest else None
    return Instance(path.name[0], buffers, exact, local, least)


def _run(planner: str, buffers: Sequence[Buffer], seconds: float, seed: int) -> Run:
    began = time.process_time()
    plan = make_plan(planner, buffers, Budget(seconds, CAPACITY, seed=seed))
    return Run(plan, time.process_time() - began)


def _table(found: Sequence[Instance]) -> Iterator[str]:
    more = " smallest found | proven |" if found[0].smallest else ""
    yield _COLUMNS + more
    yield "|" + "---|" * (_COLUMNS + more)[1:].count("|")
    yield from (_row(one) for one in found)


def _row(one: Instance) -> str:
    fast = [make_plan(each.id, one.buffers) for each in planners() if each.speed == "fast"]
    best = min(fast, key=lambda plan: plan.peak_bytes)
    run, least = one.exact[0], one.smallest
    cells = [
        one.name, f"{len(one.buffers)}", _part(lower_bound(one.buffers)),
        f"{_part(best.peak_bytes)} ({best.planner})", _part(run.plan.peak_bytes),
        "yes" if run.fits else "no", f"{run.cpu_s:.2f}", run.plan.note.partition(" ")[0],
        *([_part(least.peak_bytes), least.certificate or "no"] if least else []),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _spread(one: Instance) -> str:
    seconds = [run.cpu_s for run in one.exact]
    sizes = [run.plan.peak_bytes for run in one.local]
    cells = [
        one.name, _fit(one.exact), f"{median(seconds):.2f}", f"{max(seconds):.2f}",
        _fit(one.local), _part(median(sizes)), _part(max(sizes)),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _fit(runs: Sequence[Run]) -> str:
    return f"{sum(run.fits for run in runs)} of {len(runs)}"


def _part(size_bytes: float) -> str:
    return f"{size_bytes / CAPACITY:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
