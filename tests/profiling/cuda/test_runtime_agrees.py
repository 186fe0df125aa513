"""The runtime's own decisions, made without a GPU: CUDA's libraries are blank, nothing runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from optimizer.isolation import within_worker
from optimizer.source import open_source
from profiling.cuda import read_kernels
from profiling.cuda.blank_libraries import CannotBuild, build
from profiling.cuda.eligibility import check_capture
from profiling.cuda.kernel_table import FILE
from studio.gallery.gallery import entries, open_path
from tests.profiling.cuda.planted import PLANTED

ASK = """
import json, sys, onnxruntime
onnxruntime.set_default_logger_severity(4)
refused = {}
for path in sys.argv[1:]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    providers = [("CUDAExecutionProvider", {"enable_cuda_graph": "1"}), "CPUExecutionProvider"]
    try:
        session = onnxruntime.InferenceSession(
            path, options, providers=providers, enable_fallback=0
        )
        refused[path] = "" if "CUDAExecutionProvider" in session.get_providers() else "no CUDA"
    except Exception as error:
        refused[path] = str(error)
print(json.dumps(refused))
"""


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blank")
    try:
        build(folder)
    except CannotBuild as reason:
        pytest.skip(str(reason))
    return folder


def refusals(paths: list[Path], blank: Path) -> list[str]:
    command = [sys.executable, "-c", ASK, *map(str, paths)]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(blank)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    answers: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return [answers[str(path)] for path in paths]


def test_the_runtime_refuses_to_capture_exactly_the_planted_models_it_can_judge(
    blank: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{index}.onnx" for index in range(len(PLANTED))]
    for path, planted in zip(paths, PLANTED, strict=True):
        path.write_bytes(planted.data())
    found = refusals(paths, blank)
    assert {p.name: bool(why) for p, why in zip(PLANTED, found, strict=True)} == {
        planted.name: planted.refused for planted in PLANTED
    }


@pytest.mark.slow
def test_the_check_agrees_with_the_runtime_on_every_gallery_model(blank: Path) -> None:
    paths = [open_path(entry.id) for entry in entries()]
    found = refusals(paths, blank)
    ours = {
        path.stem: any(
            finding.severity == "blocks"
            for finding in check_capture(open_source(path, isolate=within_worker))
        )
        for path in paths
    }
    assert ours == {path.stem: bool(why) for path, why in zip(paths, found, strict=True)}


def test_the_kernel_table_is_that_of_the_installed_runtime(blank: Path) -> None:
    del blank  # it can be built here
    fresh, kept = read_kernels.read(), json.loads(FILE.read_text())
    if fresh["runtime"] != kept["runtime"]:
        pytest.skip(f"{fresh['runtime']} is installed, the table is of {kept['runtime']}")
    for provider in ("cuda", "cpu"):
        assert {name: _known(rows, fresh["types"]) for name, rows in fresh[provider].items()} == {
            name: _known(rows, kept["types"]) for name, rows in kept[provider].items()
        }


def _known(rows: list[tuple[int, int, dict[str, int]]], types: list[str]) -> set[str]:
    """Kernels with their types by name, for the order of the bits is not fixed."""
    return {
        json.dumps([first, last, {name: _types(mask, types) for name, mask in masks.items()}])
        for first, last, masks in rows
    }


def _types(mask: int, types: list[str]) -> list[str]:
    return sorted(name for bit, name in enumerate(types) if mask >> bit & 1)
