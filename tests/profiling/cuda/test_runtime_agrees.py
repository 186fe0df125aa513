"""The runtime's own decisions, made without a GPU: CUDA's libraries are blank, nothing runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import read_kernels
from benchmarks.blank_libraries import CannotBuild, build
from optimizer.isolation import within_worker
from optimizer.source import open_source
from profiling.cuda.eligibility import check_model
from profiling.cuda.kernel_table import FILE
from profiling.cuda.placement import place
from studio.gallery.gallery import entries, open_path
from tests.profiling.cuda.planted import PLANTED
from tests.profiling.cuda.samples import RECORDED

pytestmark = pytest.mark.long

ASK = """
import json, sys, onnxruntime
onnxruntime.set_default_logger_severity(4)
refused = {}
for path in sys.argv[3:]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, sys.argv[1])
    cuda = {"enable_cuda_graph": sys.argv[2]}
    providers = [("CUDAExecutionProvider", cuda), "CPUExecutionProvider"]
    try:
        session = onnxruntime.InferenceSession(
            path, options, providers=providers, enable_fallback=0
        )
        assert "CUDAExecutionProvider" in session.get_providers()
        assigned = session.get_provider_graph_assignment_info()
        cpu = [graph for graph in assigned if graph.ep_name == "CPUExecutionProvider"]
        refused[path] = [node.op_type for graph in cpu for node in graph.get_nodes()]
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


Answer = str | list[str]
"""The runtime's refusal, or the operators of the nodes that it puts on the CPU."""


def ask(
    paths: list[Path], blank: Path, *, level: str = "ORT_ENABLE_ALL", capture: bool = True
) -> dict[str, Answer]:
    command = [sys.executable, "-c", ASK, level, str(int(capture)), *map(str, paths)]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(blank)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    answers: dict[str, Answer] = json.loads(done.stdout.splitlines()[-1])
    return {path.stem: answers[str(path)] for path in paths}


def test_the_runtime_refuses_to_capture_exactly_the_planted_models_it_can_judge(
    blank: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{planted.name}.onnx" for planted in PLANTED]
    for path, planted in zip(paths, PLANTED, strict=True):
        path.write_bytes(planted.data())
    refused = {name: isinstance(found, str) for name, found in ask(paths, blank).items()}
    assert refused == {planted.name: planted.refused for planted in PLANTED}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["ORT_ENABLE_ALL", "ORT_DISABLE_ALL"])
def test_the_check_agrees_with_the_runtime_on_every_gallery_model(blank: Path, level: str) -> None:
    paths = [open_path(entry.id) for entry in entries()]
    refused = {
        name: isinstance(found, str) for name, found in ask(paths, blank, level=level).items()
    }
    folding = level == "ORT_ENABLE_ALL"
    assert refused == {
        path.stem: any(
            finding.severity == "blocks"
            for finding in check_model(
                open_source(path, isolate=within_worker), folding=folding
            ).findings
        )
        for path in paths
    }


@pytest.mark.slow
def test_the_placement_is_the_runtimes_node_by_node_where_it_rewrites_nothing(blank: Path) -> None:
    paths = [open_path(entry.id) for entry in entries()]
    theirs = ask(paths, blank, level="ORT_DISABLE_ALL", capture=False)
    for path in paths:
        model = open_source(path, isolate=within_worker)
        ours = [node.op_type for node in place(model.ir, folding=False).on("cpu")]
        assert (path.stem, sorted(ours)) == (path.stem, sorted(theirs[path.stem]))


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


CAPTURE = """
import pathlib, sys
from profiling.config import RunConfig
from profiling.cuda.capture import CapturePlan, capture_side
from tests.profiling.cuda.samples import RECORDED, Recorded
plan = CapturePlan(runs=3, shapes=({"batch": 2}, {"batch": 5}))
config = RunConfig(device="cuda", cuda_graph=True, cudnn=False)
side = capture_side(pathlib.Path(sys.argv[1]), config, plan)
print(RECORDED.dumps(Recorded(sides=(side,))).decode())
"""


def test_the_runtime_takes_each_shape_under_an_id_of_its_own(blank: Path, tmp_path: Path) -> None:
    """The way through bindings, ids and capture; on blank libraries nothing is computed."""
    path = tmp_path / "open.onnx"
    path.write_bytes(next(p for p in PLANTED if p.name == "an open size").data())
    environment = {**os.environ, "LD_LIBRARY_PATH": str(blank)}
    done = subprocess.run(
        [sys.executable, "-c", CAPTURE, str(path)],
        cwd=Path(__file__).parents[3],  # where `tests` is a package
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (side,) = RECORDED.loads(done.stdout.splitlines()[-1].encode()).sides
    assert side.assigned == {"CUDAExecutionProvider": 2}
    assert [(dict(runs.sizes), runs.graph_id) for runs in side.shapes] == [
        ({"batch": 2}, 1),
        ({"batch": 5}, 2),
    ]
    assert [len(runs.latencies_ms) for runs in side.shapes] == [3, 3]
    assert all(runs.stages == () and runs.steady is None for runs in side.shapes)
    assert len(side.remarks) == 2
