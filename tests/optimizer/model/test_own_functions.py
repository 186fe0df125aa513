"""Functions that Passlens writes: what they compute, and how a file with them opens again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper

from optimizer.layout.formats import Blocks
from optimizer.model.graph import walk_nodes
from optimizer.model.loader import load_bytes
from optimizer.model.own_functions import VERSION, functions_of, own_function
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.operators.layouts import LAYOUTS
from optimizer.rules import NewNode, Replacement
from tests.optimizer.rewrite.applying import bench
from tests.optimizer.running import run

OPERATORS: Mapping[str, Mapping[str, Any]] = {
    "Conv": {"kernel_shape": [3, 3], "pads": [1, 0, 1, 2], "strides": [2, 1]},
    "MaxPool": {"kernel_shape": [2, 2]},
    "AveragePool": {"kernel_shape": [3, 2], "strides": [1, 2]},
    "GlobalAveragePool": {},
    "GlobalMaxPool": {},
    "BatchNormalization": {"epsilon": 0.01},
}
IMAGE = (2, 20, 9, 8)
SHAPES: Mapping[str, Sequence[tuple[int, ...]]] = {
    "Conv": [(24, 20, 3, 3), (24,)],
    "BatchNormalization": [(20,)] * 4,
}


def _extra(name: str) -> list[np.ndarray]:
    draw = np.random.default_rng(1)
    return [draw.uniform(0.5, 1.5, shape).astype(np.float32) for shape in SHAPES.get(name, [])]


def _model(name: str, form: str) -> onnx.ModelProto:
    """The operator alone, or its function with what stands around it in a network."""
    extra = _extra(name)
    names = [f"w{index}" for index in range(len(extra))]
    made = 24 if name == "Conv" else 20
    blocks, result = Blocks(20, 16), Blocks(made, 16)
    functions: list[onnx.FunctionProto] = []
    if form:
        functions = [ir.to_proto(one) for one in functions_of([f"{form}{name}", "TransData"], 17)]
    if form == "Nhwc":
        nodes = [
            helper.make_node("Transpose", ["x"], ["a"], perm=[0, 2, 3, 1]),
            helper.make_node(
                f"Nhwc{name}", ["a", *names], ["b"], domain=LAYOUTS, **OPERATORS[name]
            ),
            helper.make_node("Transpose", ["b"], ["y"], perm=[0, 3, 1, 2]),
        ]
        functions = functions[:1]
    elif form:
        cut: dict[str, Any] = {"blocks": [blocks.count, 16], "pads": blocks.pads}
        inner: dict[str, Any] = {
            "channels": [20],
            "blocks": [result.count, 16],
            "padding": result.pads,
        }
        nodes = [
            helper.make_node("TransData", ["x"], ["a"], domain=LAYOUTS, **cut),
            helper.make_node(
                f"Blocked{name}", ["a", *names], ["b"], domain=LAYOUTS, **OPERATORS[name], **inner
            ),
            helper.make_node("TransDataBack", ["b"], ["y"], domain=LAYOUTS, channels=[made]),
        ]
    else:
        nodes = [helper.make_node(name, ["x", *names], ["y"], **OPERATORS[name])]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, IMAGE)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(data, key) for key, data in zip(names, extra, strict=True)],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(LAYOUTS, VERSION)]
    return helper.make_model(
        graph, functions=functions, opset_imports=imports[: 1 + bool(form)], ir_version=8
    )


@pytest.mark.parametrize("form", ["Nhwc", "Blocked"])
@pytest.mark.parametrize("name", OPERATORS)
def test_a_function_computes_what_the_standard_operator_does(name: str, form: str) -> None:
    feeds = {"x": np.random.default_rng(0).normal(size=IMAGE).astype(np.float32)}
    wanted = run(_model(name, ""), feeds)[0]
    proto = _model(name, form)
    assert np.array_equal(run(proto, feeds)[0], wanted)
    model = load_bytes(proto.SerializeToString(), name="m").ir
    SymbolicValues(model).propagate(model.graph)
    shapes = {node.op_type: node.outputs[0].shape for node in walk_nodes(model.graph)}
    inner = shapes[f"{form}{name}"]
    assert inner is not None
    if form == "Nhwc":
        assert inner == (wanted.shape[0], *wanted.shape[2:], wanted.shape[1])
    else:
        count = -(-wanted.shape[1] // 16)
        assert inner == (wanted.shape[0], count, *wanted.shape[2:], 16)
    assert model.graph.outputs[0].shape == wanted.shape


def test_a_file_with_our_functions_opens_with_its_calls() -> None:
    proto = _model("Conv", "Blocked")
    model = load_bytes(proto.SerializeToString(), name="m")
    assert model.statuses.optimizable.ok
    calls = [node.op_type for node in model.ir.graph]
    assert calls == ["TransData", "BlockedConv", "TransDataBack"]
    again = load_bytes(to_bytes(model.ir), name="m")
    assert to_bytes(again.ir) == to_bytes(model.ir)


def test_a_function_that_only_has_our_name_is_inlined() -> None:
    proto = _model("Conv", "Blocked")
    changed = next(one for one in proto.functions if one.name == "TransData")
    perm = next(node for node in changed.node if node.op_type == "Transpose").attribute[0]
    perm.ints[3], perm.ints[4] = perm.ints[4], perm.ints[3]
    model = load_bytes(proto.SerializeToString(), name="m")
    assert {node.domain for node in model.ir.graph} == {""}
    assert not model.ir.functions


def test_a_replacement_brings_its_functions_and_takes_them_back() -> None:
    one = bench("(float[1,8,4,4] x) => (float[1,8,4,4] y)", "a = Relu(x)", "y = Neg(a)")
    source = to_bytes(one.model)
    blocks = Blocks(8, 16)
    new = NewNode(
        "TransData",
        [one.value("x")],
        {"pads": blocks.pads, "blocks": [1, 16]},
        domain=LAYOUTS,
    )
    inner = NewNode("Relu", [new.output()])
    back = NewNode("TransDataBack", [inner.output()], {"channels": [8]}, domain=LAYOUTS)
    functions = functions_of(["TransData", "TransDataBack"], 18)
    done = one.apply(
        "a",
        Replacement(
            [one.node("a")],
            {one.value("a"): back.output()},
            "",
            [new, inner, back],
            functions=functions,
        ),
    )
    assert len(one.model.functions) == 2
    proto = onnx.load_model_from_string(to_bytes(one.model))
    onnx.checker.check_model(proto)
    data = np.random.default_rng(0).normal(size=(1, 8, 4, 4)).astype(np.float32)
    assert np.array_equal(run(proto, {"x": data})[0], -np.maximum(data, 0))
    one.undo(done)
    assert to_bytes(one.model) == source
    one.redo(done)
    assert len(one.model.functions) == 2


def test_there_is_no_function_before_constants_can_be_given() -> None:
    assert own_function("TransData", 11) is None
    assert own_function("BlockedSoftmax", 17) is None
