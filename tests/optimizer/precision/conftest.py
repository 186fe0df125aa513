from __future__ import annotations

import pytest

from profiling.workers import WorkerPool


@pytest.fixture
def isolate(shared_pool: WorkerPool) -> WorkerPool:
    return shared_pool
