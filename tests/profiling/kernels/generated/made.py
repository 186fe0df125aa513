"""Models with one generated function, made by hand of all their nodes."""

from __future__ import annotations

from typing import Any

from optimizer.isolation import within_worker
from optimizer.model.generated_functions import KernelBody, kernel_body
from optimizer.model.loader import load_bytes
from optimizer.model.region_functions import region_function
from optimizer.model.symbolic import SymbolicValues
from optimizer.source import complete
from profiling.kernels.generated.placed import PlacedKernel
from tests.profiling.kernels.models import parsed

MASKED = """g (float[n,12] x, float[n,12] mask) => (float[n,12] y) <float s = {0.5}> {
    a = Mul(x, s)
    b = Add(a, mask)
    y = Softmax<axis=-1>(b)
}"""
WEIGHTED = "g (float[4,n] x, float[n] w) => (float[4,n] y) { a = Mul(x, w) y = Relu(a) }"


def body_of(text: str, **weights: Any) -> KernelBody:
    """All nodes of a model in ONNX text as one generated function."""
    loaded = load_bytes(parsed(text, weights, opset=20), name="made.onnx")
    model = complete(loaded, isolate=within_worker).ir
    known = SymbolicValues(model).fact
    nodes = [node for node in model.graph if node.op_type != "Constant"]
    made = region_function(nodes, model.graph.outputs, known, model.opset_imports)
    return kernel_body(made.proto)


def kernel_of(body: KernelBody, **sizes: int) -> PlacedKernel:
    """A kernel that is called once, on these sizes."""
    return PlacedKernel(body, (("call",),), sizes, {})
