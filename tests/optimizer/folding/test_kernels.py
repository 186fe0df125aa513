"""Our kernels against the ONNX project's reference implementation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnx.helper
import pytest
from onnx.reference import ReferenceEvaluator

from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened

F = np.array([[-2.5, -0.5, 0.0], [0.5, 1.5, 2.5]], np.float32)
G = np.array([[2.0], [-4.0]], np.float32)
I = np.array([[-7, 7, -3], [3, 0, 5]], np.int64)  # noqa: E741 - an integer twin of F
J = np.array([2, -2, 3], np.int64)
B = np.array([[True, False, True], [False, False, True]])


def _ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


CASES: list[tuple[str, Sequence[object], dict[str, object]]] = [
    *((op, [F], {}) for op in ("Abs", "Ceil", "Exp", "Floor", "Neg", "Relu", "Round", "Sign")),
    *((op, [F], {}) for op in ("Sigmoid", "Tanh", "Sin", "Cos", "IsNaN", "Erf", "Softplus")),
    *((op, [np.abs(F) + 1], {}) for op in ("Sqrt", "Log", "Reciprocal")),
    *((op, [F, G], {}) for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Equal")),
    *((op, [I, J], {}) for op in ("Add", "Sub", "Mul", "Max", "Min", "Less", "GreaterOrEqual")),
    *((op, [B, ~B], {}) for op in ("And", "Or", "Xor", "Equal")),
    ("Not", [B], {}),
    ("Mod", [I, J], {}),
    ("Mod", [I, J], {"fmod": 1}),
    ("Where", [B, F, G], {}),
    ("GatherND", [F, np.array([[1, -1], [0, 0]])], {}),
    ("GatherND", [F, np.array([[[1]], [[0]]])], {}),
    ("GatherND", [np.stack([F, -F]), np.array([[1, -1], [0, 0]])], {"batch_dims": 1}),
    ("GatherND", [np.stack([F, -F]), np.array([[[2], [0]], [[1], [1]]])], {"batch_dims": 2}),
    ("ScatterND", [F, np.array([[1, -1], [0, 0]]), F[0, :2]], {}),
    ("ScatterND", [F, np.array([[[1], [-2]]]), F[None]], {}),
    ("ScatterND", [F, np.array([[1], [1]]), F], {"reduction": "add"}),
    ("Cast", [F], {"to": onnx.TensorProto.INT32}),
    ("Cast", [F], {"to": onnx.TensorProto.FLOAT16}),
    ("Cast", [I], {"to": onnx.TensorProto.BOOL}),
    ("Cast", [B], {"to": onnx.TensorProto.FLOAT}),
    ("Reshape", [F, _ints(3, -1)], {}),
    ("Reshape", [F, _ints(0, 3, 1)], {}),
    ("Transpose", [F], {}),
    ("Transpose", [F[None]], {"perm": [1, 0, 2]}),
    ("Transpose", [np.arange(300 * 270, dtype=np.int64).reshape(300, 270)], {}),
    ("Squeeze", [F[None], _ints(0)], {}),
    ("Unsqueeze", [F, _ints(0, -1)], {}),
    ("Flatten", [F[None]], {"axis": 2}),
    ("Concat", [F, F], {"axis": -1}),
    ("Slice", [I, _ints(-1), _ints(-100), _ints(1), _ints(-2)], {}),
    ("Slice", [I, _ints(-100), _ints(100), _ints(1), _ints(2)], {}),
    ("Slice", [I, _ints(5), _ints(0), _ints(1), _ints(-1)], {}),
    ("Gather", [F, _ints(-1, 0)], {"axis": 1}),
    ("Expand", [G, _ints(2, 2, 1)], {}),
    ("Tile", [F, _ints(2, 2)], {}),
    ("Shape", [F], {"start": -1}),
    ("Size", [F], {}),
    ("ConstantOfShape", [_ints(2, 3)], {}),
    ("Range", [np.array(5), np.array(-2), np.array(-3)], {}),
    ("Range", [np.float32(0), np.float32(1), np.float32(0.3)], {}),
    ("Pad", [F, _ints(1, 0, 0, 2), np.float32(9)], {}),
    ("MatMul", [F, F.T.copy()], {}),
    ("Gemm", [F, F, np.float32(2)], {"transB": 1}),
    ("ReduceSum", [I, _ints(0)], {"keepdims": 0}),
    ("ReduceMean", [F, _ints(-1)], {}),
    ("ReduceMax", [F], {}),
    ("ReduceProd", [I, _ints(1)], {}),
    ("Trilu", [F], {"upper": 0}),
    ("CumSum", [F, np.array(1)], {}),
    ("OneHot", [_ints(1, -1), np.array(3), F[0, :2]], {}),
    ("Clip", [F, np.float32(-1), np.float32(1)], {}),
    ("Softmax", [F], {}),
]


def _model(op: str, inputs: Sequence[object], attributes: dict[str, object]) -> onnx.ModelProto:
    """One node over initializers; its result is the graph's output."""
    names = [f"i{index}" for index in range(len(inputs))]
    node = onnx.helper.make_node(op, names, ["y"], **attributes)  # pyright: ignore[reportArgumentType]
    tensors = [
        onnx.numpy_helper.from_array(np.asarray(array), name)
        for array, name in zip(inputs, names, strict=True)
    ]
    graph = onnx.helper.make_graph([node], "g", [], [onnx.ValueInfoProto(name="y")], tensors)
    opset = onnx.helper.make_opsetid("", 18)
    return onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)


@pytest.mark.parametrize(("op", "inputs", "attributes"), CASES)
def test_folding_gives_what_the_reference_gives(
    op: str, inputs: Sequence[object], attributes: dict[str, object]
) -> None:
    proto = _model(op, inputs, attributes)
    (expected,) = ReferenceEvaluator(proto).run(None, {})
    model = opened(proto)
    optimize(model, Pipeline.of("none", enable=["fold-constants"]))
    (tensor,) = (v.const_value for v in model.ir.graph.outputs)
    assert tensor is not None, "not folded"
    assert tensor.numpy().dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(tensor.numpy(), np.asarray(expected), rtol=1e-6)
