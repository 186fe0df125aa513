"""The hash by which forms of a network are told apart."""

from __future__ import annotations

from pathlib import Path

from optimizer.limits import MIB, JobLimits
from profiling.workers import WorkerPool
from tests.profiling.execution import session_jobs


def test_many_weights_in_one_large_file_take_no_address_space_each(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    with (tmp_path / "weights").open("wb") as file:
        file.truncate(256 * MIB)
    limits = JobLimits(memory_bytes=1024 * MIB)
    assert shared_pool(session_jobs.fingerprint_of_weights, tmp_path, 32, limits=limits)
