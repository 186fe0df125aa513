"""What plans make of held-out samples, and what they are built with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir

from optimizer.model.writer import to_bytes
from optimizer.passes.precision.quantize_by_onnxruntime import QuantizeByOnnxruntime
from optimizer.pipeline import Pipeline
from optimizer.precision.samples import Samples
from optimizer.rewrite.driver import optimize
from optimizer.source import open_source
from profiling.config import RunConfig
from profiling.precision.building import build, prepare, whole_pipeline
from profiling.precision.calibrating import calibrate
from profiling.precision.plans import PrecisionPlan, Variant
from profiling.precision.running import hold_out, run_held
from profiling.workers import WorkerPool
from tests.profiling.kernels.models import floats, parsed

LOUD = """net (float[4] x) => (float[4] y) {
    a = Cast <to: int = 10> (x)
    b = Mul (a, a)
    c = Sqrt (b)
    y = Cast <to: int = 1> (c)
}"""
NETWORK = """net (float[2, 8, 32] x, float[1, 3, 16, 16] p) => (float[2, 8, 16] y, float q) {
    n = LayerNormalization <axis: int = -1> (x, g, h)
    m = Relu (n)
    y = MatMul (m, w)
    c = Conv <pads: ints = [1, 1, 1, 1]> (p, k)
    d = Relu (c)
    e = Conv (d, l)
    q = ReduceMean <keepdims: int = 0> (e)
}"""


def network(path: Path) -> Path:
    """Products after channels of very different size, and two convolutions."""
    sizes = np.geomspace(0.01, 10, 32).astype(np.float32)
    weights = {
        "g": sizes, "h": floats(32) * sizes, "w": floats(32, 16), "k": floats(8, 3, 3, 3),
        "l": floats(4, 8, 3, 3),
    }  # fmt: skip
    path.write_bytes(parsed(NETWORK, weights))
    return path


def test_numbers_of_16_bits_are_judged_as_a_device_has_them(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    source, plan = tmp_path / "source.onnx", tmp_path / "plan.onnx"
    source.write_bytes(parsed("net (float[4] x) => (float[4] y) { y = Abs (x) }", {}))
    plan.write_bytes(parsed(LOUD, {}))
    samples = tmp_path / "samples"
    samples.mkdir()
    np.save(samples / "a.npy", np.array([1, 2, 3, 400], np.float32))  # its square is beyond 65504
    held = shared_pool(hold_out, source, Samples(samples), _made(tmp_path / "held"))
    found = shared_pool(run_held, plan, RunConfig(), held, None)
    assert not found.failure
    assert found.outputs[0].reason.startswith("infinities")


def test_outliers_are_moved_before_ranges_are_observed_and_plans_are_the_same_from_the_source(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    source = network(tmp_path / "net.onnx")
    prepared = shared_pool(prepare, source, {}, tmp_path / "prepared.onnx")
    tables, samples = calibrate(prepared.file, prepared.regions, Samples(count=2), shared_pool)
    assert samples == 2
    assert set(tables) == {"", "equalized", "smoothed"}
    names = {
        variant: {name for name, _, _ in found.ranges["mse"]} for variant, found in tables.items()
    }
    assert names["smoothed"] - names[""]  # what is divided is a value of its own
    ways: tuple[Variant, ...] = ("", "corrected", "equalized", "smoothed", "onnxruntime")
    sizes: dict[Variant, bytes] = {}
    for way in ways:
        plan = PrecisionPlan(("static int8",) * len(prepared.regions), "mse", way)
        target = tmp_path / f"{way}.onnx"
        assert not shared_pool(build, prepared, plan, tables, target).failure
        model = open_source(source, isolate=shared_pool)
        trace = optimize(model, whole_pipeline(plan, prepared, tables), isolate=shared_pool)
        assert not trace.failed
        sizes[way] = to_bytes(model.ir)
        assert _constants(ir.load(target)) == _constants(model.ir)
    assert len(set(sizes.values())) == len(ways)


def test_the_runtimes_own_tool_is_one_step_that_says_what_it_did(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    source = network(tmp_path / "net.onnx")
    model = open_source(source, isolate=shared_pool)
    asked = Pipeline((QuantizeByOnnxruntime(),))
    without = optimize(open_source(source, isolate=shared_pool), asked)
    assert "there is none here" in without.declined[0].reason
    trace = optimize(model, asked, isolate=shared_pool)
    (step,) = trace.rewrites
    assert "quantized 1 node of" in step.reason
    assert "KiB before" in step.reason
    unknown = Pipeline((QuantizeByOnnxruntime(mode="static"),))
    failed = optimize(open_source(source, isolate=shared_pool), unknown, isolate=shared_pool)
    assert failed.declined[0].reason.startswith("ONNX Runtime's tool fails: ")


def _constants(model: ir.Model) -> set[bytes]:
    """Each once: the default passes store equal ones once."""
    values = model.graph.initializers.values()
    return {value.const_value.tobytes() for value in values if value.const_value is not None}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
