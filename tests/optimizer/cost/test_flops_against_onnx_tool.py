"""Our FLOPs beside the MACs of onnx-tool, where both count the same: products, convolutions, pools.

It counts multiply-accumulates, and for a bias one more each; a pool it counts by the window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.shape_inference
import onnx_ir as ir
import pytest

from optimizer.cost import node_cost
from tests.optimizer.cost.nodes import INPUTS, model_of

onnx_tool: Any = pytest.importorskip("onnx_tool", reason="onnx-tool is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # its own

PRODUCTS = [
    "Conv(image, dense)",
    "Conv<strides=[2, 2], pads=[1, 1, 1, 1]>(image, dense)",
    "Conv<group=3>(image, depthwise)",
    "Conv<group=3>(image, grouped)",
    "MatMul(matrix, right)",
    "MatMul(batch, others)",
    "Gemm(matrix, right)",
]
POOLS = [
    "MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(image)",
    "AveragePool<kernel_shape=[3, 3]>(image)",
]


def counted(call: str) -> tuple[float, int]:
    """What onnx-tool counts in a node, and our FLOPs."""
    used = call[call.rindex("(") + 1 : -1].replace(" ", "").split(",")
    model = model_of(f"g ({_inputs(used)}) => (y) {{ y = {call} }}")
    ours = node_cost(model.graph[0])
    assert ours is not None
    proto = onnx.shape_inference.infer_shapes(ir.to_proto(model))
    proto.graph.node[0].name = "node"
    theirs = onnx_tool.Model(proto, {"verbose": False, "constant_folding": False})
    graph = theirs.graph
    feeds = {
        one.name: np.ones([dim.dim_value for dim in one.type.tensor_type.shape.dim], np.float32)
        for one in proto.graph.input
    }
    graph.shape_infer(feeds)
    graph.profile()
    return _number(graph.nodemap["node"].macs), ours.flops


def _inputs(used: list[str]) -> str:
    declared = [part.strip() for part in " ".join(INPUTS.split()).split(", float")]
    typed = [part if part.startswith("float") else f"float{part}" for part in declared]
    return ", ".join(part for part in typed if part.split()[-1] in used)


def _number(macs: Any) -> float:
    return float(np.ravel(macs)[0])


@pytest.mark.parametrize("call", PRODUCTS)
def test_a_product_has_twice_as_many_flops_as_onnx_tool_counts_macs(call: str) -> None:
    macs, flops = counted(call)
    assert flops == pytest.approx(2 * macs, rel=0.01)


@pytest.mark.parametrize("call", POOLS)
def test_a_pool_has_as_many_flops_as_onnx_tool_counts(call: str) -> None:
    macs, flops = counted(call)
    assert flops == pytest.approx(macs, rel=0.01)
