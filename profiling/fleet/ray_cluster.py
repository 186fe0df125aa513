"""Races on an existing Ray cluster: a task a race, a GPU a task, again when a worker dies.

Ray is imported here alone, and only when somebody asks for it. The nodes need Passlens in the same
version; models travel with the task.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any, Unpack

from optimizer.errors import Cancelled, RunError, StudioError
from optimizer.isolation import Following, Progress, silent
from profiling.fleet.node import Message, location_here, race_here, version
from profiling.fleet.packed_variant import PackedVariant, pack
from profiling.racing.executor import Executor, JobOutcome, LocalExecutor, Observe, RaceJob
from profiling.racing.measure import RacePlan
from profiling.workers import WorkerPool

RAY_ADDRESS = "PASSLENS_RAY_ADDRESS"
"""Names the Ray cluster that races run on; unset for this machine."""
_RETRIES = 2
_LOOK_S = 0.3
_CPUS = 2
"""Processors a race reserves: the runtime's and the measuring loop's."""


def executor(pool: WorkerPool) -> Executor:
    """The Ray cluster named in the environment, else this machine.

    Raises:
        StudioError: the cluster that is named cannot be used.
    """
    address = os.environ.get(RAY_ADDRESS, "")
    if not address:
        return LocalExecutor(pool)
    return RayExecutor(address)


class RayExecutor:
    """Runs each job as one task of a Ray cluster.

    Args:
        address: `auto` for the cluster this machine belongs to, or `HOST:PORT`.

    Raises:
        StudioError: Ray is not installed.
        RunError: there is no cluster at the address.
    """

    def __init__(self, address: str = "auto") -> None:
        self._ray = _connected(address)

    def run(
        self,
        jobs: Sequence[RaceJob],
        *,
        observe: Observe | None = None,
        **following: Unpack[Following],
    ) -> list[JobOutcome]:
        """See `Executor.run`: all jobs at once, as far as the cluster has room."""
        self._check_room(jobs)
        board = self._ray.remote(num_cpus=0)(_Board).remote()
        tasks = [self._submitted(number, job, board) for number, job in enumerate(jobs)]
        watch = _Watch(jobs, following.get("progress") or silent, observe)
        cancelled = following.get("cancelled")
        try:
            waiting = list(tasks)
            while waiting:
                _, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK_S)
                watch.read(self._ray.get(board.taken.remote()))
                if cancelled is not None and cancelled():
                    raise Cancelled("The race was cancelled.")
            outcomes = [self._outcome(task) for task in tasks]
            watch.end(outcomes)
            return outcomes
        finally:
            for task in tasks:
                self._ray.cancel(task, force=True)
            self._ray.kill(board)

    def _check_room(self, jobs: Sequence[RaceJob]) -> None:
        wanted = max((job.needed_gpus for job in jobs), default=0)
        if wanted > self._ray.cluster_resources().get("GPU", 0):
            raise RunError(
                "A variant wants a GPU and the Ray cluster has none; add a GPU node or use the CPU."
            )

    def _submitted(self, number: int, job: RaceJob, board: Any) -> Any:
        task = self._ray.remote(
            num_cpus=_CPUS, num_gpus=job.needed_gpus, max_retries=_RETRIES, max_calls=1
        )(_race_task)
        return task.remote(number, pack(job.variants), job.plan, board, version())

    def _outcome(self, task: Any) -> JobOutcome:
        try:
            outcome: JobOutcome = self._ray.get(task)
        except self._ray.exceptions.WorkerCrashedError:
            tries = _RETRIES + 1
            return JobOutcome(
                None, f"The worker died on each of {tries} nodes or tries; see Ray's log."
            )
        except self._ray.exceptions.RayError as error:
            return JobOutcome(None, f"The Ray cluster could not run the race: {_last_line(error)}")
        return outcome


def _race_task(
    number: int, packed: list[PackedVariant], plan: RacePlan, board: Any, wanted: str
) -> JobOutcome:
    """What Ray runs on a node."""
    cluster: Any = importlib.import_module("ray")
    context = cluster.get_runtime_context()
    gpus = tuple(str(gpu) for gpu in cluster.get_gpu_ids())
    attempt = cluster.get(board.attempt.remote(number))
    location = location_here(str(context.get_node_id()), gpus, attempt=attempt)
    if version() != wanted:
        return JobOutcome(None, f"The node has Passlens {version()}, not {wanted}.", location)
    return race_here(
        number,
        packed,
        plan,
        location=location,
        tell=lambda message: board.put.remote(message),
    )


class _Board:
    """An actor between tasks and the executor: news, and how often each job was begun."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._attempts: dict[int, int] = {}

    def attempt(self, number: int) -> int:
        self._attempts[number] = self._attempts.get(number, 0) + 1
        return self._attempts[number]

    def put(self, message: Message) -> None:
        self._messages.append(message)

    def taken(self) -> list[Message]:
        messages, self._messages = self._messages, []
        return messages


class _Watch:
    """All jobs' news as one progress."""

    def __init__(
        self, jobs: Sequence[RaceJob], progress: Progress, observe: Observe | None
    ) -> None:
        self._names = [job.name for job in jobs]
        self._fractions = [0.0] * len(jobs)
        self._progress = progress
        self._observe = observe

    def read(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._fractions[message.job] = message.fraction
            share = sum(self._fractions) / len(self._fractions)
            where = " on ".join(filter(None, (self._names[message.job], message.location.node)))
            self._progress(f"{where}: {message.text}", share)
            if self._observe is not None and message.race is not None:
                self._observe(message.job, message.race)

    def end(self, outcomes: Sequence[JobOutcome]) -> None:
        for number, outcome in enumerate(outcomes):
            if self._observe is not None and outcome.race is not None:
                self._observe(number, outcome.race)


def _connected(address: str) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        cluster: Any = importlib.import_module("ray")
    except ImportError:
        raise StudioError("Ray is not installed; pip install 'passlens[ray]'.") from None
    if not cluster.is_initialized():
        try:
            cluster.init(address=address, log_to_driver=False, logging_level="error")
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            raise RunError(
                f"No Ray cluster answers at {address}: {_last_line(error)} "
                "Start one with `ray start --head`, or unset PASSLENS_RAY_ADDRESS."
            ) from None
    return cluster


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(error).__name__
