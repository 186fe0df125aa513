"""Compiling and running over a limit, in real workers: one sentence, and the next one goes on."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pytest

from optimizer.errors import RunError
from optimizer.limits import MIB, JobLimits
from optimizer.loops.schedule import ComputeRoot, Schedule
from optimizer.schedules.examples import EXAMPLES
from profiling.workers import WorkerPool
from studio.schedule import code_job, timing
from studio.schedule.code_job import code_task
from studio.schedule.opened import OpenedSchedule
from studio.schedule.timing import start_timing
from studio.tasks import Task, Tasks
from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.skipif(find_spec("halide") is None, reason="needs Halide")
SHORT, SMALL = JobLimits(seconds=0.005), JobLimits(seconds=60, memory_bytes=8 * MIB)
BLUR = EXAMPLES["blur"]
OPENED = OpenedSchedule(
    "blur", BLUR.title, BLUR.algorithm, {"first": Schedule()}, "first",
    Schedule((ComputeRoot("blur_x"),)),
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_tasks(monkeypatch: pytest.MonkeyPatch, shared_pool: WorkerPool) -> None:
    mine = Tasks()
    for module in (code_job, timing):
        monkeypatch.setattr(module, "tasks", lambda: mine)
        monkeypatch.setattr(module, "pool", lambda: shared_pool)


def _code() -> Task[code_job.Json]:
    return code_task(OPENED)


def _times() -> Task[timing.Times] | None:
    start_timing(OPENED, 1)
    return timing.timing(OPENED, 1)


@pytest.mark.parametrize(
    ("module", "work", "what"),
    [(code_job, _code, "compiled"), (timing, _times, "timed")],
    ids=["compiled", "timed"],
)
@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (SHORT, "it was stopped after 0.005 s (the limit), and fewer rounds"),
        (SMALL, "it needs more than 8 MiB of memory (the limit), and smaller tiles need less."),
    ],
    ids=["time", "memory"],
)
def test_a_schedule_over_a_limit_is_stopped_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    work: Callable[[], Task[object] | None],
    what: str,
    limits: JobLimits,
    why: str,
) -> None:
    monkeypatch.setattr(module, "LIMITS", limits)
    task = work()
    assert task is not None
    assert task.wait(PATIENCE_MS / 1000)
    assert isinstance(task.error, RunError)
    assert task.error.message.startswith(f"This schedule cannot be {what}: {why}")
    assert task.error.message.count(". ") == 0
