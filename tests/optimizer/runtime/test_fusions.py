"""What ONNX Runtime joins, held to the graph that it writes with all of its rewrites on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from optimizer.runtime.fusions import joined_by_runtime
from tests.optimizer.graphs import loaded, parsed

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
WEIGHTS = """<float[4, 4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16},
float[4] b = {1,2,3,4}, float s = {0.5}>"""
GRAPHS = {
    "activation of a product": (
        "[2, 4]", "[2, 4]", "a = MatMul(x, w) c = Add(a, b) y = Tanh(c)",
    ),
    "swapped axes": (
        "[2, 4, 4]", "[2, 4, 4]", "a = Transpose<perm = [0, 2, 1]>(x) y = MatMul(a, x)",
    ),
    "the first axis inside": (
        "[4, 4, 4]", "[4, 4, 4]", "a = Transpose<perm = [1, 0, 2]>(x) y = MatMul(a, x)",
    ),
    "factor of a result": ("[2, 4, 4]", "[2, 4, 4]", "a = MatMul(x, x) y = Mul(a, s)"),
    "factor of an operand": ("[2, 4, 4]", "[2, 4, 4]", "a = Div(x, s) y = MatMul(a, x)"),
}  # fmt: skip
BIASES = {
    "of a product of matrices": ("[2, 4]", "[2, 4]", "a = MatMul(x, w) y = Add(a, b)"),
    "of a batched product": ("[3, 2, 4]", "[3, 2, 4]", "a = MatMul(x, w) y = Add(a, b)"),
    "before an activation": (
        "[2, 4]", "[2, 4]", "a = MatMul(x, w) c = Add(a, b) y = Tanh(c)",
    ),
}  # fmt: skip
LEFT = {
    "bias of free sizes": ("[N, 2, 4]", "[N, 2, 4]", "a = MatMul(x, w) y = Add(a, b)"),
    "a result read twice": (
        "[2, 4]", "[2, 4]", "a = MatMul(x, w) c = Add(a, b) y = Add(a, c)",
    ),
    "other axes": (
        "[2, 4, 4, 4]", "[2, 4, 4, 4]", "a = Transpose<perm = [0, 2, 1, 3]>(x) y = MatMul(a, x)",
    ),
    "no single number": ("[2, 4, 4]", "[2, 4, 4]", "a = MatMul(x, x) y = Mul(a, b)"),
}  # fmt: skip


def _proto(case: tuple[str, str, str]) -> onnx.ModelProto:
    source, result, body = case
    lines = body.replace(" y =", "\ny =").replace(" c =", "\nc =")
    return parsed(f"{HEADER}g (float{source} x) => (float{result} y) {WEIGHTS} {{\n{lines}\n}}")


def _runtime_operators(proto: onnx.ModelProto, folder: Path) -> Counter[str]:
    options = cast("Any", ort.SessionOptions())
    options.optimized_model_filepath = str(folder / "m.onnx")
    options.log_severity_level = 4
    ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return Counter(node.op_type for node in onnx.load(folder / "m.onnx").graph.node)


@pytest.mark.parametrize("case", GRAPHS.values(), ids=GRAPHS)
def test_what_is_said_to_be_joined_is_gone(case: tuple[str, str, str], tmp_path: Path) -> None:
    proto = _proto(case)
    graph = loaded(proto).ir.graph
    joined = joined_by_runtime(graph)
    assert joined
    left = Counter(node.op_type for node in graph if node not in joined)
    for name in ("Mul", "Div", "Tanh", "Transpose"):
        assert _runtime_operators(proto, tmp_path)[name] == left[name], name


@pytest.mark.parametrize("case", BIASES.values(), ids=BIASES)
def test_a_bias_is_left_to_kernels_though_the_runtime_makes_a_gemm_of_it(
    case: tuple[str, str, str], tmp_path: Path
) -> None:
    proto = _proto(case)
    assert "Add" not in {node.op_type for node in joined_by_runtime(loaded(proto).ir.graph)}
    found = _runtime_operators(proto, tmp_path)
    assert found["Add"] == found["MatMul"] == 0


@pytest.mark.parametrize("case", LEFT.values(), ids=LEFT)
def test_what_is_not_said_to_be_joined_stays(case: tuple[str, str, str], tmp_path: Path) -> None:
    proto = _proto(case)
    graph = loaded(proto).ir.graph
    assert not joined_by_runtime(graph)
    kept = _runtime_operators(proto, tmp_path)
    assert sum(kept[name] for name in ("Add", "Mul", "Transpose")) >= 1


def test_a_chain_between_convolutions_stays_in_blocks_of_channels() -> None:
    weights = np.ones((16, 16, 1, 1), np.float32)
    text = """g (float[1, 16, 8, 8] x) => (float[1, 16, 8, 8] y) <float[16, 16, 1, 1] k> {
c = Conv(x, k)
r = Relu(c)
q = Add(r, c)
e = Exp(q)
y = Conv(e, k)
}"""
    proto = parsed(HEADER + text)
    del proto.graph.input[1:]
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "k"))
    joined = joined_by_runtime(loaded(proto).ir.graph)
    assert [(node.op_type, "blocks" in why) for node, why in joined.items()] == [
        ("Relu", True),
        ("Add", True),
    ]
