from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from optimizer.model import outline
from optimizer.verify.runtime import Session, as_file
from profiling.workers import WorkerPool
from tests.profiling.kernels.models import parsed


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


def run_outlined(path: Path, x: np.ndarray) -> np.ndarray:
    """What the model gives, its weights mapped where they are; runs in a worker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outline, "OUTLINED_FILE_BYTES", 1)
        return Session(path).run({"x": x})["y"]


def test_a_large_file_is_run_through_a_link_from_another_folder(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    file, link = tmp_path / "blobs" / "4f2a", tmp_path / "snapshot" / "model.onnx"
    weights = np.random.default_rng(0).normal(size=(200, 200)).astype(np.float32)
    for path in (file, link):
        path.parent.mkdir()
    text = "g (float[1, 200] x) => (float[1, 200] y) { y = MatMul(x, w) }"
    file.write_bytes(parsed(text, {"w": weights}))
    link.symlink_to(file)
    x = np.ones((1, 200), np.float32)
    np.testing.assert_allclose(
        shared_pool(run_outlined, link, x), x @ weights, rtol=1e-4, atol=1e-4
    )


def run_whole(path: Path, x: np.ndarray) -> np.ndarray:
    """What the model gives, its weights read by the runtime; runs in a worker."""
    return Session(path).run({"x": x})["y"]


def test_wherever_weights_lie_the_same_bits_come_out(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    inside, outside = tmp_path / "inside.onnx", tmp_path / "outside.onnx"
    random = np.random.default_rng(0)
    weights = random.normal(size=(2100, 203)).astype(np.float32)
    text = "g (float[1, 2100] x) => (float[1, 203] y) { y = MatMul(x, w) }"
    inside.write_bytes(parsed(text, {"w": weights}))
    onnx.save(onnx.load(inside), outside, save_as_external_data=True, location="outside.data")
    x = random.normal(size=(1, 2100)).astype(np.float32)
    wanted = shared_pool(run_whole, inside, x)
    np.testing.assert_array_equal(shared_pool(run_whole, outside, x), wanted)
    np.testing.assert_array_equal(shared_pool(run_outlined, inside, x), wanted)
