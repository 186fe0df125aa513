from __future__ import annotations

import pytest

from optimizer.isolation import within_worker
from optimizer.model.loader import load_bytes
from optimizer.operators.generated import region_title
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from profiling.kernels.generated.regions import regions_of
from tests.profiling.kernels.models import floats, parsed

TWICE = """g (float[64,512] x, float[64,512] z) => (float[64,512] p, float[64,512] v)
<float a = {0.5}, float b = {0.25}> {
    s = Mul(x, a)
    t = Add(s, b)
    u = Tanh(t)
    p = MatMul(u, w)
    q = Mul(z, a)
    r = Add(q, b)
    v = Tanh(r)
}"""


def test_a_kernel_in_several_places_is_one_region_with_its_kind_and_reason() -> None:
    loaded = load_bytes(parsed(TWICE, {"w": floats(512, 512)}), name="twice.onnx")
    trace = optimize(
        complete(loaded, isolate=within_worker), Pipeline.of("generated"), isolate=within_worker
    )
    (region,) = regions_of(trace)
    assert (region.kind, region.places) == ("fusion", 2)
    assert region.reason.startswith("Fusion: 3 nodes")
    assert region.title == "kernel of 3 nodes: Mul, Add, Tanh, 2 times"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Mul_Add_Softmax_0123456789abcdef", "softmax of 3 nodes: Mul, Add, Softmax"),
        ("Mul_Add_Softmax_5_0123456789abcdef", "softmax of 5 nodes: Mul, Add, Softmax, …"),
        ("Add_LayerNormalization_0123456789abcdef", "norm of 2 nodes: Add, LayerNormalization"),
        ("BiasGelu_0123456789abcdef", "kernel of BiasGelu"),
        ("Softmax", "Softmax"),
        ("Conv_1", "Conv_1"),
        ("0123456789abcdef", "0123456789abcdef"),
        ("5_0123456789abcdef", "5_0123456789abcdef"),
    ],
)
def test_a_kernel_is_called_by_its_region_and_other_names_stay(name: str, title: str) -> None:
    assert region_title(name) == title
