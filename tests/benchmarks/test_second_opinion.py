"""What differs in float16 is told from what is wrong."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from benchmarks.fuzz.second_opinion import only_rounding
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from optimizer.verify import verify
from optimizer.verify.comparison import Tolerance
from profiling.workers import default_pool

GELU = """
<ir_version: 8, opset_import: ["" : 14]>
g (float16[2] x) => (float16[2] y) <float16[2] bias, float16 root, float16 one, float16 half>
{
  shifted = Add(x, bias)
  scaled = Div(shifted, root)
  erf = Erf(scaled)
  sum = Add(erf, one)
  product = Mul(shifted, sum)
  y = Mul(product, half)
}
"""


def network(factor: float) -> bytes:
    """Gelu far to the left, where 1 + erf has few bits left in float16."""
    model = onnx.parser.parse_model(GELU)
    weights = {"bias": [-3.5, -3.6], "root": np.sqrt(2), "one": 1.0, "half": factor}
    model.graph.initializer.extend(
        numpy_helper.from_array(np.array(value, np.float16), name)
        for name, value in weights.items()
    )
    return model.SerializeToString()


@pytest.mark.parametrize(("factor", "rounded"), [(0.5, True), (0.48, False)])
def test_a_gelu_in_float16_differs_by_rounding_and_a_wrong_one_does_not(
    factor: float, rounded: bool
) -> None:
    pool = default_pool()
    model = complete(load_bytes(network(0.5), name="gelu.onnx"), isolate=pool)
    trace = optimize(model, Pipeline.of("cpu"), isolate=pool)
    assert [one.pass_id for one in trace.rewrites] == ["fuse-gelu-runtime"]
    source, fused = network(factor), to_bytes(model.ir)
    found = verify(source, fused, isolate=pool)
    assert found.verdict == "differs"
    assert only_rounding(source, fused, found, Tolerance()) == rounded
