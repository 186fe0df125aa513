"""Regions of rows larger than one step may be: cut in two where few values cross."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from optimizer.passes.block import rows
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of

BLOCKS = 12
WIDTH = 4


def perceptrons() -> onnx.ModelProto:
    """Blocks of x + (relu(x · w + b) · v + c), of any batch and length."""
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    constants: list[onnx.TensorProto] = []
    value = "x"
    for block in range(BLOCKS):
        for name, shape in (("w", (WIDTH, 6)), ("b", (6,)), ("v", (6, WIDTH)), ("c", (WIDTH,))):
            array = random.standard_normal(shape).astype(np.float32) / WIDTH
            constants.append(numpy_helper.from_array(array, f"{name}{block}"))
        made = [f"{name}{block}" for name in ("up", "wide", "on", "down", "narrow", "sum")]
        up, wide, on, down, narrow, total = made
        nodes += [
            helper.make_node("MatMul", [value, f"w{block}"], [up]),
            helper.make_node("Add", [up, f"b{block}"], [wide]),
            helper.make_node("Relu", [wide], [on]),
            helper.make_node("MatMul", [on, f"v{block}"], [down]),
            helper.make_node("Add", [down, f"c{block}"], [narrow]),
            helper.make_node("Add", [value, narrow], [total]),
        ]
        value = total
    shape = ["batch", "seq", WIDTH]
    graph = helper.make_graph(
        nodes,
        "perceptrons",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, shape)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(("largest", "pieces"), [(20, 4), (31, 3), (60, 2), (1000, 1)])
def test_large_region_is_flattened_piece_by_piece(
    monkeypatch: pytest.MonkeyPatch, largest: int, pieces: int
) -> None:
    monkeypatch.setattr(rows, "LARGEST", largest)
    source = perceptrons()
    made = opened(source)
    steps = optimize(made, Pipeline.listed(["flatten-rows"])).steps
    after = proto_of(made.ir)
    operators = [node.op_type for node in after.graph.node]
    assert steps == pieces
    assert operators.count("MatMul") < pieces, "at a cut a product may lose its bias, no more"
    assert operators.count("Gemm") + operators.count("MatMul") == 2 * BLOCKS
    assert operators.count("Shape") == 1, "later pieces take the sizes from the first"
    x = np.random.default_rng(1).standard_normal((2, 3, WIDTH)).astype(np.float32)
    ran = (ReferenceEvaluator(model).run(None, {"x": x}) for model in (source, after))
    wanted, found = (np.asarray(output) for (output,) in ran)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
