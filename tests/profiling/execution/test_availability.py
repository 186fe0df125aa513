from __future__ import annotations

from profiling.execution.availability import availability
from profiling.workers import WorkerPool


def test_every_group_is_there_or_says_why_not(shared_pool: WorkerPool) -> None:
    groups = availability(shared_pool)
    assert list(groups) == ["session", "cpu", "cuda", "tensorrt"]
    assert groups["session"].ok
    assert groups["cpu"].ok
    for status, provider in ((groups["cuda"], "CUDA"), (groups["tensorrt"], "Tensorrt")):
        assert status.ok or status.reason.startswith(
            f"{provider}ExecutionProvider is not available: "
        )
        assert status.ok or status.reason.endswith(".")


def test_tensorrt_is_not_there_without_cuda(shared_pool: WorkerPool) -> None:
    groups = availability(shared_pool)
    assert groups["cuda"].ok or not groups["tensorrt"].ok
