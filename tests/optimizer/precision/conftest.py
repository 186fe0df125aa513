from __future__ import annotations

from collections.abc import Iterator

import pytest

from profiling.workers import WorkerPool


@pytest.fixture(scope="session")
def isolate() -> Iterator[WorkerPool]:
    pool = WorkerPool(size=1)
    yield pool
    pool.close()
