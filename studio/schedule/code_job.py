"""What a schedule becomes on its way to the machine: compiled in a worker, for the browser.

For a GPU it is compiled by Triton, in a worker of its own, whatever the schedule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

from optimizer.errors import Cancelled, RunError, StudioError
from optimizer.isolation import Progress
from optimizer.limits import MIB, JobLimits
from optimizer.loops.schedule import ScheduleError
from optimizer.schedules.nest import nest_text
from optimizer.schedules.prefix import schedule_at
from profiling.codegen.levels import cpu_level
from profiling.schedules.differences import CodeDifference, LevelDifference, compared_code
from profiling.schedules.gpu_code import LIMITS as GPU_LIMITS
from profiling.schedules.gpu_linked import GpuCode, gpu_linked_code
from profiling.schedules.instructions import LoopCode
from profiling.schedules.linked import CodeLevel, LinkedCode, linked_code
from profiling.schedules.linked_ptx import linked_ptx
from profiling.schedules.ptxas import KernelUsage
from studio.schedule.opened import OpenedSchedule
from studio.schedule.stopped import stopped
from studio.services import pool, tasks
from studio.tasks import Task

Found = TypeVar("Found")
_GAP = re.compile(r"\s{2,}(?=# |; preds)")
_INSTRUCTION = re.compile(r"^\t(\S+)\t")
Json = dict[str, Any]
LIMITS = JobLimits(seconds=60, memory_bytes=4096 * MIB)
"""Of compiling one schedule, or two."""


def code_task(opened: OpenedSchedule) -> Task[Json]:
    """The code of what is shown, begun at first sight."""
    return tasks().start(code_key(opened), partial(_code, opened))


def code_key(opened: OpenedSchedule) -> Hashable:
    """Equal keys are the same code."""
    return ("schedule-code", opened.key, opened.schedule)


def difference_task(opened: OpenedSchedule, steps: tuple[int, int]) -> Task[Json]:
    """What is different between two steps, begun at first sight."""
    return tasks().start(difference_key(opened, steps), partial(_difference, opened, steps))


def difference_key(opened: OpenedSchedule, steps: tuple[int, int]) -> Hashable:
    """Equal keys are the same difference."""
    return ("schedule-difference", opened.key, opened.schedule, steps)


def gpu_task(opened: OpenedSchedule) -> Task[Json]:
    """The code of the algorithm for a GPU, begun at first sight."""
    return tasks().start(gpu_key(opened), partial(_gpu, opened))


def gpu_key(opened: OpenedSchedule) -> Hashable:
    """Equal keys are the same code: Triton orders loops itself."""
    return ("schedule-gpu-code", opened.key)


def _code(opened: OpenedSchedule, *, progress: Progress, cancelled: Callable[[], bool]) -> Json:
    progress("compiling", 0.1)
    last = len(opened.schedule.primitives)
    schedule = schedule_at(opened.algorithm, opened.schedule, last)
    found = _compiled(
        lambda: pool()(
            linked_ptx if schedule.needs_gpu else linked_code,
            opened.title, opened.algorithm, schedule, cpu_level(),
            limits=LIMITS, cancelled=cancelled,
        )
    )  # fmt: skip
    return code_json(found, left_out=last - len(schedule.primitives))


def _difference(
    opened: OpenedSchedule,
    steps: tuple[int, int],
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Json:
    progress("compiling both", 0.1)
    first, second = (schedule_at(opened.algorithm, opened.schedule, step) for step in steps)
    found = _compiled(
        lambda: pool()(
            compared_code, opened.title, opened.algorithm, (first, second), cpu_level(),
            limits=LIMITS, cancelled=cancelled,
        )
    )  # fmt: skip
    return difference_json(found, steps)


def _gpu(opened: OpenedSchedule, *, progress: Progress, cancelled: Callable[[], bool]) -> Json:
    """By Triton.

    Raises:
        RunError: it took too long or too much memory, the worker died, or it was cancelled.
        LibraryError: Triton cannot compute this.
    """
    progress("compiling for a GPU", 0.1)
    try:
        found = pool().run_fresh(
            gpu_linked_code, opened.title, opened.algorithm,
            limits=GPU_LIMITS, cancelled=cancelled,
        )  # fmt: skip
    except Cancelled:
        raise
    except RunError as error:
        text = f"This algorithm cannot be compiled for a GPU: {error.message}"
        raise RunError(text) from error
    return gpu_json(found)


def _compiled(work: Callable[[], Found]) -> Found:
    """What a worker gives; why it did not is said in one sentence.

    Raises:
        RunError: it took too long or too much memory, the worker died, or it was cancelled.
        StudioError: Halide is not installed, or a primitive cannot be applied.
    """
    try:
        return work()
    except Cancelled:
        raise
    except RunError as error:
        raise stopped(error, LIMITS, "compiled") from error
    except ScheduleError as error:
        # Its number is of what is applied, not of the list on the page.
        raise StudioError(f"This schedule cannot be compiled: {error.reason}.") from error


def code_json(found: LinkedCode, left_out: int = 0) -> Json:
    """All levels as the browser draws them: columns of texts, of nodes and of marks.

    Args:
        found: the code.
        left_out: how many primitives were, since they cannot be applied.
    """
    return {
        "kind": "code",
        "title": found.title,
        "processor": found.processor,
        "leftOut": left_out,
        "depths": [node.depth for node in found.nodes],
        "names": [line.strip() for line in nest_text(found.nodes).splitlines()],
        "levels": [_level_json(level) for level in found.levels],
        "loops": [_loop_json(loop) for loop in found.loops],
    }


def gpu_json(found: GpuCode) -> Json:
    """The same of code for a GPU; its nodes are lines of the first level."""
    return {
        "kind": "gpu",
        "title": found.title,
        "processor": found.target,
        "missing": found.missing,
        "levels": [_level_json(level) for level in found.levels],
        "kernels": [_usage_json(one) for one in found.kernels],
    }


def _usage_json(one: KernelUsage) -> Json:
    return {
        "name": one.name,
        "registers": one.registers,
        "sharedBytes": one.shared_bytes,
        "stackBytes": one.stack_bytes,
        "spillStoreBytes": one.spill_store_bytes,
        "spillLoadBytes": one.spill_load_bytes,
    }


def _level_json(level: CodeLevel) -> Json:
    return {
        "id": level.id,
        "title": level.title,
        "texts": [_aligned(line.text) for line in level.lines],
        "nodes": [list(line.nodes) for line in level.lines],
        "marks": [" ".join(line.marks) for line in level.lines],
        "leftOut": level.left_out,
    }


def _aligned(text: str) -> str:
    """A line without tabs and wide gaps: assembly has a tab behind an instruction's name."""
    text = _INSTRUCTION.sub(lambda match: f"  {match[1]:<13}", text)
    return _GAP.sub("  ", text).expandtabs(4)


def _loop_json(loop: LoopCode) -> Json:
    return {
        "node": loop.node,
        "instructions": loop.instructions,
        "bits": loop.vector_bits,
        "vectors": loop.zmm + loop.ymm + loop.xmm,
        "scalar": loop.scalar,
        "fma": loop.fma,
        "gather": loop.gather,
        "calls": loop.calls,
        "spills": loop.spills,
        "reloads": loop.reloads,
        "spilledBytes": loop.spilled_bytes,
        "reloadedBytes": loop.reloaded_bytes,
    }


def difference_json(found: CodeDifference, steps: tuple[int, int]) -> Json:
    """Both codes level by level, line beside line."""
    return {
        "kind": "difference",
        "title": found.after.title,
        "processor": found.after.processor,
        "steps": list(steps),
        "levels": [_rows_json(level) for level in found.levels],
    }


def _rows_json(level: LevelDifference) -> Json:
    return {
        "id": level.id,
        "title": level.title,
        "changed": level.changed,
        "leftOut": level.left_out,
        "before": [_aligned(line.text) for line in level.before],
        "after": [_aligned(line.text) for line in level.after],
        "rows": [[row.change, row.before, row.after] for row in level.rows],
    }
