"""Which executor the environment asks for."""

from __future__ import annotations

import os

from profiling.racing.executor import Executor, LocalExecutor
from profiling.workers import WorkerPool

RAY_ADDRESS = "PASSLENS_RAY_ADDRESS"
"""Names the Ray cluster that races run on; unset for this machine."""


def executor(pool: WorkerPool) -> Executor:
    """The Ray cluster named in the environment, else this machine.

    Raises:
        StudioError: the cluster that is named cannot be used.
    """
    address = os.environ.get(RAY_ADDRESS, "")
    if not address:
        return LocalExecutor(pool)
    from profiling.fleet.ray_cluster import RayExecutor

    return RayExecutor(address)
