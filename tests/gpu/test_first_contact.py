"""What only a machine with an NVIDIA GPU can show; a few minutes in all, skipped without one."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from onnx import parser

from benchmarks import gpu
from benchmarks.gpu_table import COLUMNS
from optimizer.isolation import within_worker
from optimizer.limits import JobLimits
from optimizer.source import open_source
from profiling.config import Option, RunConfig, options
from profiling.cuda import stages_torch
from profiling.cuda.capture import CapturePlan, capture_side
from profiling.cuda.eligibility import check_model
from profiling.execution.availability import availability
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Variant
from profiling.records.bundle import open_bundle
from profiling.workers import WorkerPool
from studio.gallery.gallery import entries, open_path
from tests.gpu import gpu_jobs
from tests.profiling.cuda import missing
from tests.profiling.settings import from_settings

LIMITS = JobLimits(seconds=300, memory_bytes=None)
CUDA = RunConfig(device="cuda", graph_optimization="all")
CAPTURED = RunConfig(device="cuda", graph_optimization="all", cuda_graph=True)
TF32 = 1e-2
MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[2,8,16,16] x, float[16,8,3,3] w, float[16] b, float[16,32] v) => (float[2,32] z) {
    c = Conv <pads = [1, 1, 1, 1]> (x, w, b) r = Relu (c) p = GlobalAveragePool (r)
    f = Flatten (p) m = MatMul (f, v) z = Tanh (m) }"""

PRODUCT = """<ir_version: 8, opset_import: ["": 17]>
g (float[8,64] x, float[64,32] w) => (float[8,32] z) { m = MatMul (x, w) z = Relu (m) }"""

# Values to try where the option's type does not say which, and what they need beside them.
VALUES: dict[str, tuple[str, ...]] = {
    "device_id": (),  # there may be one GPU only
    "cudnn": (),  # convolutions have no kernel without it: see below
    "nbits_rows": ("nbits_rows=1+8", "nbits_gemm=true"),
    "gpu_memory_mib": ("gpu_memory_mib=1024",),
    "tuning_ms": ("tuning_ms=5", "tune_kernels=true"),
    "weight_readers": ("weight_readers=2",),
}


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool(size=2)
    status = availability(pool)["cuda"]
    if not status.ok:
        pool.close()
        pytest.skip(status.reason)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    path.write_bytes(parser.parse_model(MODEL).SerializeToString())
    return path


def settings(option: Option) -> list[tuple[str, ...]]:
    """Every way to set the option other than its default."""
    if option.name in VALUES:
        return [VALUES[option.name]] if VALUES[option.name] else []
    if option.choices:
        return [(f"{option.name}={text}",) for text in option.choices if text != option.default]
    return [(f"{option.name}={str(not option.default).lower()}",)]


def test_every_cuda_option_opens_a_session_and_computes_the_same(
    pool: WorkerPool, model: Path
) -> None:
    configs = {
        ", ".join(chosen): from_settings(["device=cuda", "graph_optimization=all", *chosen])
        for option in options()
        if option.group == "cuda"
        for chosen in settings(option)
    }
    found = pool.run_fresh(gpu_jobs.differences, model, configs, limits=LIMITS)
    wrong = {label: f for label, f in found.items() if isinstance(f, str) or not f < TF32}
    assert found.keys() == configs.keys()
    assert wrong == {}


def test_without_cudnn_products_run_and_convolutions_say_what_they_lack(
    pool: WorkerPool, model: Path, tmp_path: Path
) -> None:
    product = tmp_path / "product.onnx"
    product.write_bytes(parser.parse_model(PRODUCT).SerializeToString())
    configs = {"without": from_settings(["device=cuda", "cudnn=false"])}
    computed = pool.run_fresh(gpu_jobs.differences, product, configs, limits=LIMITS)["without"]
    assert not isinstance(computed, str)
    assert computed < TF32
    refusal = pool.run_fresh(gpu_jobs.differences, model, configs, limits=LIMITS)["without"]
    assert "cuDNN is unavailable or disabled" in str(refusal)


def test_a_captured_graph_computes_what_is_put_at_its_addresses(
    pool: WorkerPool, model: Path
) -> None:
    found = pool.run_fresh(gpu_jobs.replayed, model, CAPTURED, limits=LIMITS)
    assert max(found.apart) < TF32
    assert found.varied
    assert not found.moved


@pytest.mark.parametrize("config", [CUDA, CAPTURED], ids=["launched", "captured"])
def test_cupti_records_the_kernels_of_every_run(
    pool: WorkerPool, model: Path, config: RunConfig
) -> None:
    if reason := pool.run_fresh(missing.cupti):
        pytest.skip(reason)
    counts = pool.run_fresh(gpu_jobs.kernels_of_runs, model, config, limits=LIMITS)
    assert len(counts) == 3
    assert min(counts) >= 3  # a convolution, a pooling, a product


def test_a_capture_is_taken_apart_into_its_stages(pool: WorkerPool, model: Path) -> None:
    if reason := pool.run_fresh(missing.cupti) or pool.run_fresh(missing.nvml):
        pytest.skip(reason)
    side = pool.run_fresh(capture_side, model, CAPTURED, CapturePlan(runs=50), limits=LIMITS)
    (runs,) = side.shapes
    assert side.remarks == ()
    assert side.samples
    assert [stage.name for stage in runs.stages] == ["define", "instantiate", "execute"]
    assert len(runs.latencies_ms) == 50
    assert runs.steady is not None
    assert any(event.kind == "kernel" for event in runs.steady.events)


def test_nvml_tells_memory_clock_power_and_temperature(pool: WorkerPool, model: Path) -> None:
    if reason := pool.run_fresh(missing.nvml):
        pytest.skip(reason)
    samples = pool.run_fresh(gpu_jobs.samples_of_runs, model, CUDA, limits=LIMITS)
    last = samples[-1]
    assert len(samples) >= 3
    assert last.used_bytes
    assert last.sm_mhz
    assert last.power_w
    assert last.temperature_c


def test_torch_times_the_stages_of_a_graph(pool: WorkerPool) -> None:
    if reason := pool.run_fresh(missing.torch, limits=LIMITS):
        pytest.skip(reason)
    stages = pool.run_fresh(stages_torch.torch_stages, limits=LIMITS)
    times = (stages.define_ms, stages.instantiate_ms, stages.execute_ms, stages.plain_ms)
    assert all(len(series) == 20 and min(series) > 0 for series in times)


@pytest.mark.parametrize("transfers", [True, False], ids=["with transfers", "without transfers"])
def test_a_race_on_the_gpu_times_right_results(
    pool: WorkerPool, model: Path, transfers: bool
) -> None:
    variants = [
        Variant("cpu", model, RunConfig()),
        Variant("launched", model, CUDA),
        Variant("captured", model, CAPTURED),
    ]
    plan = RacePlan(runs=50, seconds=4, rounds=10, precision=0, transfers=transfers)
    race = measure(variants, pool=pool, plan=plan)
    assert [timing.error for timing in race.timings] == ["", "", ""]
    assert all(timing.believable and timing.blocks_ms for timing in race.timings)
    assert [timing.providers[0] for timing in race.timings[1:]] == ["CUDAExecutionProvider"] * 2
    assert race.transfers is transfers


def test_the_check_refuses_what_the_runtime_refuses_to_capture(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # native shape inference may leave a file where it runs
    paths = [open_path(entry.id) for entry in entries()]
    theirs = pool.run_fresh(gpu_jobs.refused, paths, CAPTURED, limits=LIMITS)
    ours = {path.stem for path in paths if _blocked(path)}
    assert (ours, theirs) == (theirs.keys(), theirs)


def _blocked(path: Path) -> bool:
    findings = check_model(open_source(path, isolate=within_worker)).findings
    return any(finding.severity == "blocks" for finding in findings)


def test_the_benchmark_measures_a_small_network(pool: WorkerPool, tmp_path: Path) -> None:
    del pool  # there is a GPU
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    arguments = ["--small", "--networks", "bert", "--seconds", "1", "--minutes", "4"]
    assert gpu.main([*arguments, "--out", str(tmp_path)]) == 0
    (found,) = open_bundle(tmp_path / "gpu.passlens")
    errors = {row["column"]: row["error"] for row in found.payload["rows"] if row["error"]}
    compiled = {column for column in COLUMNS if "compile" in column}  # may find no time or compiler
    assert {column: error for column, error in errors.items() if column not in compiled} == {}
