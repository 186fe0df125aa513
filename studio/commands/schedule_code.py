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
from profiling.schedules.code import gpu_texts
from profiling.schedules.differences import CODE_DIFFERENCE, code_difference, unified
from profiling.schedules.functions import CODE_VIEWS
from profiling.schedules.gpu_code import GPU_VIEWS, gpu_code
from profiling.schedules.gpu_code import LIMITS as GPU_LIMITS
from profiling.schedules.gpu_linked import GPU_CODE, GpuCode, gpu_linked_code
from profiling.schedules.instructions import LoopCode
from profiling.schedules.linked import LINKED_CODE, LinkedCode, linked_code
from profiling.schedules.linked_ptx import linked_ptx
from profiling.schedules.ptxas import KernelUsage
from profiling.workers import default_pool
from studio.commands.output import print_json, table

_LIMITS = JobLimits(seconds=60, memory_bytes=4096 * MIB)
_LINKED_GPU = "gpu"
KINDS = ("linked", _LINKED_GPU, *GPU_VIEWS)
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
    elif arguments.shown == _LINKED_GPU:
        _show_gpu(arguments, title, algorithm)
    elif arguments.shown == "ptx" and schedule.needs_gpu:
        pool = default_pool()
        made = pool(gpu_texts, algorithm, schedule, cpu_level(), limits=_LIMITS)
        print(made["ptx"].strip())
    else:
        made = default_pool().run_fresh(gpu_code, algorithm, limits=GPU_LIMITS)
        print(made[arguments.shown])


def _show_gpu(arguments: argparse.Namespace, title: str, algorithm: Algorithm) -> None:
    """The algorithm for a GPU: Triton orders its loops, whatever the schedule."""
    found = default_pool().run_fresh(gpu_linked_code, title, algorithm, limits=GPU_LIMITS)
    if arguments.json:
        print_json(GPU_CODE.to_json(found))
        return
    print(plain(f"{title.partition(':')[0]}, by Triton for {found.target}"))
    for line in usage_lines(found):
        print(line)


def usage_lines(found: GpuCode) -> Iterator[str]:
    """What each kernel takes of a GPU, and how much of its code says which line it is from."""
    rows = [["", "registers", "shared memory", "stack", "spill stores", "spill loads"]]
    rows += [[plain(one.name), *_usage_cells(one)] for one in found.kernels]
    if found.kernels:
        yield table(rows, right=frozenset(range(1, len(rows[0]))))
    for level in found.levels:
        told = sum(bool(line.nodes) for line in level.lines)
        yield f"{level.title}: {told} of {len(level.lines)} lines say which line they are from"
    if found.missing:
        yield found.missing


def _usage_cells(one: KernelUsage) -> Iterator[str]:
    yield "not said" if one.registers is None else str(one.registers)
    for size in (
        one.shared_bytes, one.stack_bytes, one.spill_store_bytes, one.spill_load_bytes,
    ):  # fmt: skip
        yield "not said" if size is None else bytes_text(size)


def _linked(title: str, algorithm: Algorithm, schedule: Schedule) -> LinkedCode:
    pool = default_pool()
    made = linked_ptx if schedule.needs_gpu else linked_code
    return pool(made, title, algorithm, schedule, cpu_level(), limits=_LIMITS)


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
    if not found.loops:
        yield from names
    rows = [["", "instructions", "vectors", "on vectors", "scalar", "fma", "gathers", "calls",
             "spills", "reloads"]]  # fmt: skip
    for loop in found.loops:
        name = names[loop.node] if loop.node >= 0 else "outside of all loops"
        rows.append([plain(name), *_cells(loop)])
    if found.loops:
        yield table(rows, right=frozenset(range(1, len(rows[0]))))
    shown = [level for level in found.levels if level.id not in ("onnx", "nest")]
    yield ", ".join(f"{len(one.lines) + one.left_out} lines of {one.id}" for one in shown)


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
