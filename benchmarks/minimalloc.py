"""MiniMalloc's instances: `python -m benchmarks.minimalloc [--seconds S] [--smallest S] [--write]`.

Does the exact planner fit all eleven into 1,048,576, how long does it take, and is anything smaller
possible? One thread; the first search of a process compiles, before the clock starts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import describe
from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.intervals import read_intervals
from optimizer.memory.plan import Plan, check_plan
from optimizer.memory.registry import Budget, make_plan, planners

CAPACITY = 1_048_576
INSTANCES = Path(__file__).parent / "minimalloc"
RESULTS = Path(__file__).parent / "results" / "minimalloc.md"

_HEAD = """# MiniMalloc's instances

`python -m benchmarks.minimalloc --write`; {machine}. Sizes are parts of the capacity, 1,048,576.
CPU seconds are of one thread, the compiling of the search not included.

| instance | buffers | bound | best fast planner | exact | fits | CPU s | decisions |{more}
|---|---|---|---|---|---|---|---|{line}
"""


def main(arguments: Sequence[str]) -> int:
    """Plan all, print the table; the exit status says whether all fit."""
    parser = argparse.ArgumentParser(prog="benchmarks.minimalloc", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="to fit an instance")
    parser.add_argument("--smallest", type=float, default=0.0, help="to make it smaller still")
    parser.add_argument("--write", action="store_true", help="write the table")
    parsed = parser.parse_args(arguments)
    instances = {p.name[0]: read_intervals(p) for p in sorted(INSTANCES.glob("?.*.csv"))}
    make_plan("exact", instances["C"], Budget(goal_bytes=CAPACITY))
    more = (" smallest found | proven |", "---|---|") if parsed.smallest else ("", "")
    table = _HEAD.format(machine=describe("numba"), more=more[0], line=more[1])
    sys.stdout.write(table)
    fits = True
    for name, buffers in instances.items():
        row, plan = _row(name, buffers, parsed.seconds)
        fits = fits and plan.peak_bytes <= CAPACITY
        if parsed.smallest:
            least = make_plan("exact", buffers, Budget(parsed.smallest))
            row += f" {_part(least.peak_bytes)} | {least.certificate or 'no'} |"
        table += row + "\n"
        sys.stdout.write(row + "\n")
        sys.stdout.flush()
    if parsed.write:
        RESULTS.write_text(table)
    return 0 if fits else 1


def _row(name: str, buffers: tuple[Buffer, ...], seconds: float) -> tuple[str, Plan]:
    fast = [make_plan(one.id, buffers) for one in planners() if one.speed == "fast"]
    best = min(fast, key=lambda plan: plan.peak_bytes)
    began = time.process_time()
    plan = make_plan("exact", buffers, Budget(seconds, CAPACITY))
    took = time.process_time() - began
    check_plan(buffers, plan.offsets)
    fits = "yes" if plan.peak_bytes <= CAPACITY else "no"
    cells = [
        name, f"{len(buffers)}", _part(lower_bound(buffers)),
        f"{_part(best.peak_bytes)} ({best.planner})", _part(plan.peak_bytes), fits,
        f"{took:.2f}", plan.note.partition(" ")[0],
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |", plan


def _part(size_bytes: int) -> str:
    return f"{size_bytes / CAPACITY:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
