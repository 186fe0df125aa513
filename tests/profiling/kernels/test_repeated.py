from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.verify import jobs
from optimizer.verify.runtime import Session, as_file
from profiling.kernels.repeated import repeated
from profiling.workers import WorkerPool
from tests.profiling.kernels.models import floats, parsed

CHAINED = "g (float[4,8] x, float[4,8] r) => (float[4,8] y, float[4,8] s) {s=Add(x,r) y=Mul(s,w)}"
TURNED = "g (float[4,8] x) => (float[8,4] y) { t = Transpose<perm=[1,0]>(x) y = Mul(t, w) }"


def of(text: str, **weights: object) -> ir.Model:
    return load_bytes(parsed(text, dict(weights)), name="small.onnx").ir


def outputs(model: bytes, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.asarray(a) for name, a in Session(as_file(model)).run(inputs).items()}


def test_what_a_copy_gives_goes_into_the_next_one(shared_pool: WorkerPool) -> None:
    model = of(CHAINED, w=floats(8))
    x, r, w = floats(4, 8, seed=1), floats(4, 8, seed=2), floats(8)
    three = repeated(model, 3)
    found = shared_pool(outputs, to_bytes(three), {"x": x, "r": r})
    for _ in range(3):
        x, r = (x + r) * w, x + r
    assert [value.name for value in three.graph.inputs] == ["x", "r"]
    assert np.allclose(found["y.2"], x)
    assert np.allclose(found["s.2"], r)


def test_copies_whose_output_does_not_fit_have_inputs_of_their_own() -> None:
    three = repeated(of(TURNED, w=floats(4)), 3)
    assert [value.name for value in three.graph.inputs] == ["x", "x.1", "x.2"]
    assert [value.name for value in three.graph.outputs] == ["y.0", "y.1", "y.2"]
    assert [*three.graph.initializers] == ["w"]


@pytest.mark.parametrize("text", [CHAINED, TURNED])
def test_one_copy_computes_what_the_model_does(text: str, shared_pool: WorkerPool) -> None:
    model = of(text, w=floats(8 if "Add" in text else 4))
    reference = shared_pool(jobs.run_reference, to_bytes(model), jobs.Request(seeds=1)).runs[0]
    found = shared_pool(outputs, to_bytes(repeated(model, 1)), dict(reference.inputs))
    for name, array in reference.outputs.items():
        assert np.array_equal(found[f"{name}.0"], array)
