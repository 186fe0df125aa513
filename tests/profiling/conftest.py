from __future__ import annotations

from collections.abc import Iterator

import pytest

from profiling.workers import WorkerPool


@pytest.fixture(scope="session")
def shared_pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(size=2)
    yield pool
    pool.close()
