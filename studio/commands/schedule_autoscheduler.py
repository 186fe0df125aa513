"""`passlens schedule --autoschedule NAME`: a schedule that an autoscheduler makes, or isl."""

from __future__ import annotations

import argparse
from typing import Literal

from optimizer.errors import plain
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.schedules.autoschedulers import AUTOSCHEDULERS, Autoscheduler, run_autoscheduler
from profiling.workers import default_pool
from studio.commands.progress_line import progress_line
from studio.commands.schedule_polyhedral import ISL, isl_schedule


def declare(parser: argparse.ArgumentParser) -> None:
    """Its argument."""
    what = "the schedule that an autoscheduler of Halide makes, or isl; Anderson2021's is for a GPU"
    parser.add_argument("--autoschedule", choices=(*AUTOSCHEDULERS, ISL), help=what)


def autoscheduled_by(name: Autoscheduler | Literal["isl"], algorithm: Algorithm) -> Schedule:
    """What it makes; what of it is left out is said.

    Raises:
        StudioError: it has no schedule for this, or one that no primitives do.
    """
    if name == ISL:
        return isl_schedule(algorithm)
    with progress_line() as progress:
        progress(f"{name} searches", 0.1)
        found = run_autoscheduler(algorithm, name, pool=default_pool()).found
    for sentence in found.left_out:
        print(plain(f"Left out: {sentence}."))
    return found.schedule
