"""`passlens schedule --print linked`, `--diff` and code for GPUs: what a schedule becomes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from optimizer.errors import StudioError, plain, quoted
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.numbers import bytes_text
from optimizer.schedules.nest import nest_text
from optimizer.schedules.prefix import schedule_at
from profiling.codegen.levels import cpu_level
from profiling.schedules.differences import CODE_DIFFERENCE, code_difference, unified
from profiling.schedules.functions import CODE_VIEWS
from profiling.schedules.gpu_code import GPU_VIEWS, gpu_code
from profiling.schedules.instructions import LoopCode
from profiling.schedules.linked import LINKED_CODE, LinkedCode, linked_code
from profiling.workers import default_pool
from studio.commands.output import print_json, table

_GPU_LIMITS = JobLimits(seconds=120, memory_bytes=16384 * MIB)
"""Of importing Triton and PyTorch, and compiling."""
_LIMITS = JobLimits(seconds=60, memory_bytes=4096 * MIB)
KINDS = ("linked", *GPU_VIEWS)
"""What can be printed besides."""


def declare_code(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    what = "the difference of --print stmt|c|llvm|asm between steps; A alone: between A and the end"
    parser.add_argument("--diff", metavar="A[:B]", help=what)


def is_code(arguments: argparse.Namespace) -> bool:
    """Whether one of these is asked for."""
    return arguments.diff is not None or arguments.shown in KINDS


def show_code(
    arguments: argparse.Namespace, title: str, algorithm: Algorithm, schedule: Schedule
) -> None:
    """Print it.

    Raises:
        StudioError: there is no such step, or it cannot be compiled.
    """
    if arguments.diff is not None:
        _show_difference(arguments, title, algorithm, schedule)
    elif arguments.shown == "linked":
        found = _linked(title, algorithm, schedule)
        if arguments.json:
            print_json(LINKED_CODE.to_json(found))
        else:
            print(plain(title))
            for line in loop_lines(found):
                print(line)
    else:
        made = default_pool().run_fresh(gpu_code, algorithm, limits=_GPU_LIMITS)
        print(made[arguments.shown])


def _linked(title: str, algorithm: Algorithm, schedule: Schedule) -> LinkedCode:
    pool = default_pool()
    return pool(linked_code, title, algorithm, schedule, cpu_level(), limits=_LIMITS)


def _show_difference(
    arguments: argparse.Namespace, title: str, algorithm: Algorithm, schedule: Schedule
) -> None:
    view = arguments.shown if arguments.shown in CODE_VIEWS else "asm"
    steps = _steps(arguments.diff, len(schedule.primitives))
    before, after = (
        _linked(f"{title}, step {step}", algorithm, schedule_at(algorithm, schedule, step))
        for step in steps
    )
    found = code_difference(before, after, (view,))
    if arguments.json:
        print_json(CODE_DIFFERENCE.to_json(found))
        return
    (level,) = found.levels
    count = f"{level.changed} of {len(level.rows)} lines differ" if level.changed else "the same"
    print(plain(f"{level.title}, steps {steps[0]} and {steps[1]}: {count}."))
    for line in unified(level) if level.changed else ():
        print(plain(line.expandtabs(8)))


def _steps(text: str, last: int) -> tuple[int, int]:
    first, _, second = text.partition(":")
    if not first.isdecimal() or (second and not second.isdecimal()):
        raise StudioError(f"--diff takes a step or two, such as 3 or 3:5, and got {quoted(text)}.")
    return int(first), int(second) if second else last


def loop_lines(found: LinkedCode) -> Iterator[str]:
    """The loops of a schedule, with what their instructions are."""
    names = nest_text(found.nodes).splitlines()
    lines = {level.id: len(level.lines) + level.left_out for level in found.levels}
    rows = [["", "instructions", "vectors", "on vectors", "scalar", "fma", "gathers", "calls",
             "spills", "reloads"]]  # fmt: skip
    for loop in found.loops:
        name = names[loop.node] if loop.node >= 0 else "outside of all loops"
        rows.append([plain(name), *_cells(loop)])
    yield table(rows, right=frozenset(range(1, len(rows[0]))))
    yield ", ".join(f"{lines[view]} lines of {view}" for view in CODE_VIEWS)


def _cells(loop: LoopCode) -> Iterator[str]:
    yield str(loop.instructions)
    yield f"{loop.vector_bits} bit" if loop.vector_bits else ""
    for count in (loop.zmm + loop.ymm + loop.xmm, loop.scalar, loop.fma, loop.gather, loop.calls):
        yield str(count) if count else ""
    for count, size in (
        (loop.spills, loop.spilled_bytes),
        (loop.reloads, loop.reloaded_bytes),
    ):
        yield f"{count} ({bytes_text(size)})" if count else ""
