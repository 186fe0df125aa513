"""The tour runs, its outputs say something, and the packed file is what the script builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from benchmarks import tour
from studio.gallery import gallery

Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
ort = cast("Any", onnxruntime)  # its types are incomplete
LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PASSLENS_CACHE", str(tmp_path))
    return gallery.open_path("tour")


def _run(path: Path, *, level: str, seed: int) -> list[Array]:
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(seed)
    mask = np.ones((2, 5), np.float32)
    mask[0, 3:] = 0
    tokens, image = (
        rng.normal(size=shape).astype(np.float32) for shape in ((2, 5, tour.WIDTH), (2, 3, 16, 16))
    )
    return session.run(None, {"tokens": tokens, "mask": mask, "image": image})


def test_the_packed_tour_is_what_the_script_builds(path: Path) -> None:
    assert onnx.load(path) == ir.to_proto(tour.build())


def test_the_tour_is_valid(path: Path) -> None:
    onnx.checker.check_model(onnx.load(path), full_check=True)


@pytest.mark.parametrize("level", LEVELS)
def test_the_tour_runs_and_every_output_depends_on_the_input(path: Path, level: str) -> None:
    for first, second in zip(
        _run(path, level=level, seed=0), _run(path, level=level, seed=1), strict=True
    ):
        assert np.isfinite(first).all()
        assert first.std() > 0.1
        assert not np.isclose(first, second).all()


def test_the_random_masks_never_show_in_the_outputs(path: Path) -> None:
    for first, second in zip(
        _run(path, level=LEVELS[0], seed=0), _run(path, level=LEVELS[0], seed=0), strict=True
    ):
        np.testing.assert_array_equal(first, second)
