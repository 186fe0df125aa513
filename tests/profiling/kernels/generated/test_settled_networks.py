"""A whole network, in which one kernel pays and another does not. Believes what it measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from optimizer.model.generated_functions import generated_names
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from optimizer.verify import jobs
from profiling.config.question import config_for
from profiling.config.settings import from_values
from profiling.kernels.generated.settling import settle_network, without_kernels
from profiling.racing.plan import RacePlan
from profiling.racing.race import Variant
from profiling.workers import WorkerPool
from tests.profiling.kernels.models import floats, parsed

pytestmark = pytest.mark.long

# In plain C the arithmetic is faster than as a chain, and what has exponentials is slower.
NETWORK = """g (float[64,512] x) => (float[64,512] y)
<float a = {1.5}, float b = {0.25}, float c = {0.75}> {
    p = MatMul(x, w)
    s = Mul(p, a)
    t = Add(s, b)
    u = Mul(t, p)
    v = Sub(u, c)
    q = MatMul(v, w)
    g = Sigmoid(q)
    h = Mul(g, q)
    r = MatMul(h, w)
    y = Add(r, b)
}"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, shared_pool: WorkerPool) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("network")
    weights = {"w": floats(512, 512) / np.float32(16)}
    model = complete(load_bytes(parsed(NETWORK, weights), name="network.onnx"), isolate=shared_pool)
    source, generated = folder / "source.onnx", folder / "generated.onnx"
    write(model.ir, source)
    optimize(model, Pipeline.of("generated"), isolate=shared_pool)
    write(model.ir, generated)
    return source, generated


def test_a_kernel_that_is_left_out_is_the_operators_it_was(
    files: tuple[Path, Path], tmp_path: Path, shared_pool: WorkerPool
) -> None:
    _, generated = files
    slow = [name for name in generated_names(generated) if name.startswith("Sigmoid")]
    shared_pool(without_kernels, generated, slow, tmp_path / "left.onnx")
    left = load_path(tmp_path / "left.onnx").ir
    operators = [node.op_type for node in left.graph if node.op_type != "Constant"]
    assert "Sigmoid" in operators
    assert not [name for name in generated_names(tmp_path / "left.onnx") if name in slow]
    assert len(generated_names(tmp_path / "left.onnx")) == len(generated_names(generated)) - 1


@pytest.mark.alone
def test_what_does_not_pay_in_the_whole_network_is_taken_back(
    files: tuple[Path, Path], tmp_path: Path, shared_pool: WorkerPool
) -> None:
    source, generated = files
    usual = config_for("deployed", {"intra_threads": 1})
    kernels = generated_names(generated)
    found = settle_network(
        [Variant("source", source, usual)],
        Variant("generated", generated, from_values({"generated_kernels": "c"}, base=usual)),
        [kernels],
        pool=shared_pool,
        plan=RacePlan(seconds=8.0, runs=1, request=jobs.Request(seeds=1)),
        folder=tmp_path,
    )
    assert found.best == "source"
    assert found.kernels == kernels
    assert not [name for name in found.kept if name.startswith("Sigmoid")]
    assert {name for part in found.parts if not part.pays for name in part.names} <= {*kernels}
    if found.contrast is not None:
        assert found.contrast.low >= 1 / 1.02
