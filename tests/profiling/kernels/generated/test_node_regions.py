"""Nodes of a source and the generated kernels that do their work."""

from __future__ import annotations

import pytest

from optimizer.isolation import within_worker
from optimizer.model.loader import load_bytes
from optimizer.operators.generated import region_title
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.source import complete
from profiling.kernels.generated.node_regions import NodeRegions, node_regions
from tests.profiling.kernels.models import floats, parsed

NETWORK = """g (float[64,512] x, float[64,512] mask)
=> (float[64,512] y, int64[2,k] places, float[64,512] r)
<float s = {0.5}, float one = {1.0}> {
    factor = Mul(s, one)
    a = Mul(x, factor)
    b = Add(a, mask)
    c = Softmax<axis=-1>(b)
    y = MatMul(c, w)
    same = Identity(y)
    places = NonZero(x)
    r = Relu(x)
}"""


@pytest.fixture(scope="module")
def found() -> NodeRegions:
    loaded = load_bytes(parsed(NETWORK, {"w": floats(512, 512)}), name="net.onnx")
    model = complete(loaded, isolate=within_worker)
    for node in model.ir.graph:
        node.name = node.outputs[0].name
    trace = optimize(model, Pipeline.of("generated"), isolate=within_worker)
    return node_regions(Cursor.at_end(trace))


def test_every_node_of_a_region_leads_to_its_kernel(found: NodeRegions) -> None:
    kernels = {found.kernel_of(found.named[name]) for name in ("a", "b", "c")}
    (kernel,) = kernels
    assert region_title(kernel) == "softmax of 3 nodes: Mul, Add, Softmax"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("y", "MatMul 'y' is in no region that becomes a kernel: MatMul is a matrix product, which "
         "ONNX Runtime's own library computes."),
        ("places", "there are no loops for NonZero."),
        ("r", "alone it is no slower in ONNX Runtime"),
        ("factor", "it is computed once, while the network is optimized"),
        ("same", "in no region that becomes a kernel: "),
    ],
)  # fmt: skip
def test_a_node_in_no_region_says_why(found: NodeRegions, name: str, why: str) -> None:
    nodes = found.named[name]
    assert found.kernel_of(nodes) == ""
    assert why in found.why_none(nodes)
    assert found.why_none(nodes).endswith(".")


def test_a_node_that_nobody_knows_is_told(found: NodeRegions) -> None:
    assert found.why_none(("n999",)) == "The open model has no such node."
