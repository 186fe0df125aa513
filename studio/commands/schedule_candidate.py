"""`passlens schedule MODEL --candidate NAME`, `--take-back NAME`: schedules that races try, too."""

from __future__ import annotations

import argparse

from optimizer.errors import StudioError, plain, quoted
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.excess import runnable_nest
from profiling.kernels.generated.own_schedules import (
    OwnSchedule,
    guarded,
    guarded_text,
    keep_own,
    take_back,
)
from profiling.records import Records
from studio.recordings.keeper import database_url


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    what = "keep the schedule under this name, so that `passlens kernels` races it, too"
    parser.add_argument("--candidate", metavar="NAME", help=what)
    what = "forget the schedule that was kept under this name; nothing ships it from then on"
    parser.add_argument("--take-back", metavar="NAME", help=what)


def kept_candidate(
    algorithm: Algorithm, kernel: str, name: str, schedule: Schedule, *, source: str = ""
) -> str:
    """Keep a schedule of a model's kernel; what to say of it.

    Args:
        algorithm: of the kernel, at the sizes that it has in the model.
        kernel: name of its function; empty where there is none.
        name: of the schedule.
        schedule: that is kept.
        source: SHA-256 of the model.

    Raises:
        StudioError: there is no kernel, or the schedule cannot be applied or may not be built.
    """
    if not kernel:
        raise StudioError("--candidate keeps a schedule of a model's region, not of an example.")
    safe, changed = guarded(schedule)
    runnable_nest(algorithm, safe)
    with Records(database_url()) as records:
        keep_own(OwnSchedule(kernel, name, safe, source), records)
    said = f"Kept {name} as a candidate of {kernel}: the next race tries it."
    return plain(said + guarded_text(changed))


def taken_back(kernel: str, name: str) -> str:
    """Forget a schedule of a model's kernel; what to say of it.

    Raises:
        StudioError: there is no kernel, or nothing was kept of it under this name.
    """
    if not kernel:
        raise StudioError("--take-back is about a schedule of a model's region, not of an example.")
    with Records(database_url()) as records:
        if not take_back(kernel, name, records):
            raise StudioError(f"No schedule {quoted(name)} is kept of {kernel}.")
    return plain(f"Took back {name}: {kernel} is in its default order, or in what wins next.")
