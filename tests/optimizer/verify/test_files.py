from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.verify.runtime import as_file
from profiling.workers import WorkerPool


def written(model: bytes) -> tuple[Path, Path]:
    """Where a job is, and where the file is; runs in a worker."""
    return Path.cwd(), as_file(model)


def test_a_job_writes_a_model_into_its_own_folder(shared_pool: WorkerPool) -> None:
    folder, path = shared_pool(written, b"model")
    assert path.parent == folder
    assert not folder.exists()


def test_outside_a_job_a_model_is_written_into_no_folder_of_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = as_file(b"model")
    assert path.read_bytes() == b"model"
    assert not list(tmp_path.iterdir())
    assert as_file(path) == path
