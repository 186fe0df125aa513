from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.precision.float_formats import FORMATS, FloatFormat, losses
from optimizer.precision.histogram import Histogram
from optimizer.precision.rounding import estimated_error, lost, noise, power
from tests.optimizer.graphs import opened

PRODUCT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[64,32] x) => (float[64,16] y) { y = MatMul(x, w) }"""


def counted(array: np.ndarray) -> Histogram:
    histogram = Histogram()
    histogram.add(array)
    return histogram


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 300.0])
def test_rounding_noise_is_what_rounding_does(form: FloatFormat, scale: float) -> None:
    numbers = (np.random.default_rng(0).normal(size=50_000) * scale).astype(np.float32)
    numbers[::7] = 0
    really = np.square(numbers - form.rounded(numbers).astype(np.float64)).mean()
    assert np.isclose(noise(counted(numbers), form), really, rtol=0.05)
    assert np.isclose(power(counted(numbers)), np.square(numbers).mean(), rtol=0.1)


def test_the_estimate_of_a_product_is_the_error_of_its_weights_and_of_its_results() -> None:
    generator, form = np.random.default_rng(1), FORMATS["float16"]
    x, w = (generator.normal(size=s).astype(np.float32) for s in ((64, 32), (32, 16)))
    graph = opened(PRODUCT).ir.graph
    weight = graph[0].inputs[1]
    assert weight is not None
    weight.const_value = ir.Tensor(w)
    graph.register_initializer(weight)
    y = x @ w
    rounded = form.rounded(x @ form.rounded(w).astype(np.float32)).astype(np.float64)
    really = np.square(rounded - y).mean() / np.square(y).mean()
    found = estimated_error(graph[0], {"x": counted(x), "y": counted(y)}, form)
    assert np.isclose(found, really, rtol=0.2)
    assert estimated_error(graph[0], {}, form) == 0.0


def test_what_is_lost_of_what_was_counted_is_what_is_lost_of_the_numbers_themselves() -> None:
    generator = np.random.default_rng(2)
    numbers = np.exp(generator.normal(size=20_000) * 8).astype(np.float32)
    numbers[:100], numbers[100:110] = 0, 1e5
    found, wanted = lost(counted(numbers), FORMATS["float16"]), losses(numbers, FORMATS["float16"])
    assert found.overflow == np.count_nonzero(numbers >= 65536) > 10
    assert (found.elements, found.subnormal) == (20_000, wanted.subnormal)
    assert found.vanished == wanted.vanished > 10
    assert lost(counted(numbers), FORMATS["bfloat16"]) == losses(numbers, FORMATS["bfloat16"])
