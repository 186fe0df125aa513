"""Our propagation beside ONNX's inference and beside what the runtime really computes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from optimizer.dimension import Expression
from optimizer.model.symbolic import SymbolicValues

ZOO = os.environ.get("PASSLENS_ZOO", "")
NAMES = ("batch", "seq")


class GraphBuilder:
    """Grows a random graph whose values all have rank 3, on sizes that hypothesis draws."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.floats = ["x"]
        self.sizes = ["s0"]
        self.nodes.append(helper.make_node("Shape", ["x"], ["s0"]))

    def constant(self, values: list[int]) -> str:
        name = f"c{len(self.weights)}"
        self.weights.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def emit(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def pick(self, names: list[str]) -> str:
        return self.draw(st.sampled_from(names))

    def axis(self) -> int:
        return self.draw(st.integers(-3, 2))

    def grow(self) -> None:
        step = self.draw(st.sampled_from(STEPS))
        step(self)

    def unary(self) -> None:
        operator = self.draw(st.sampled_from(["Relu", "Neg", "Softmax", "Identity"]))
        self.floats.append(self.emit(operator, [self.pick(self.floats)]))

    def same_twice(self) -> None:
        value = self.pick(self.floats)
        self.floats.append(self.emit("Add", [value, value]))

    def transpose(self) -> None:
        order = self.draw(st.permutations([0, 1, 2]))
        self.floats.append(self.emit("Transpose", [self.pick(self.floats)], perm=list(order)))

    def concat(self) -> None:
        value = self.pick(self.floats)
        self.floats.append(self.emit("Concat", [value, value], axis=self.axis()))

    def reduce(self) -> None:
        self.floats.append(self.emit("ReduceMax", [self.pick(self.floats)], axes=[self.axis()]))

    def flatten_and_back(self) -> None:
        value = self.pick(self.floats)
        flat = self.emit("Reshape", [value, self.constant([-1])])
        shape = self.emit("Shape", [value])
        self.sizes.append(shape)
        self.floats.append(self.emit("Reshape", [flat, shape]))

    def merge_axes(self) -> None:
        value = self.pick(self.floats)
        target = self.draw(st.sampled_from([[0, 1, -1], [1, -1, 1], [1, 0, -1]]))
        self.floats.append(self.emit("Reshape", [value, self.constant(target)]))

    def reshape_by_sizes(self) -> None:
        value = self.pick(self.floats)
        shape = self.emit("Shape", [value])
        first = self.emit("Gather", [shape, self.constant([self.draw(st.integers(-3, 2))])])
        rest = self.constant([-1, 1])
        target = self.emit("Concat", [first, rest], axis=0)
        self.sizes += [first, target]
        self.floats.append(self.emit("Reshape", [value, target]))

    def slice(self) -> None:
        start = self.draw(st.integers(-2, 2))
        end = self.draw(st.sampled_from([1, 2, -1, 2**31 - 1, 2**63 - 1]))
        bounds = [self.constant([number]) for number in (start, end, self.axis())]
        self.floats.append(self.emit("Slice", [self.pick(self.floats), *bounds]))

    def pad(self) -> None:
        pads = self.draw(st.lists(st.integers(0, 2), min_size=6, max_size=6))
        self.floats.append(self.emit("Pad", [self.pick(self.floats), self.constant(pads)]))

    def squeeze_and_unsqueeze(self) -> None:
        axis = self.axis()
        wide = self.emit("Unsqueeze", [self.pick(self.floats), self.constant([axis])])
        self.floats.append(self.emit("Squeeze", [wide, self.constant([axis])]))

    def expand(self) -> None:
        value = self.pick(self.floats)
        self.floats.append(self.emit("Expand", [value, self.emit("Shape", [value])]))

    def arithmetic(self) -> None:
        operator = self.draw(st.sampled_from(["Add", "Mul", "Div", "Sub", "Mod"]))
        number = self.constant([self.draw(st.integers(1, 5))])
        self.sizes.append(self.emit(operator, [self.pick(self.sizes), number]))

    def decision(self) -> None:
        value = self.pick(self.sizes)
        operator = self.draw(st.sampled_from(["Equal", "Less", "GreaterOrEqual"]))
        number = self.constant([self.draw(st.integers(-1, 3))])
        answer = self.emit(operator, [value, number])
        self.sizes.append(self.emit("Where", [answer, value, number]))


STEPS = [
    GraphBuilder.unary,
    GraphBuilder.same_twice,
    GraphBuilder.transpose,
    GraphBuilder.concat,
    GraphBuilder.reduce,
    GraphBuilder.flatten_and_back,
    GraphBuilder.merge_axes,
    GraphBuilder.reshape_by_sizes,
    GraphBuilder.slice,
    GraphBuilder.pad,
    GraphBuilder.squeeze_and_unsqueeze,
    GraphBuilder.expand,
    GraphBuilder.arithmetic,
    GraphBuilder.decision,
]


@st.composite
def graphs(draw: st.DrawFn) -> onnx.ModelProto:
    builder = GraphBuilder(draw)
    for _ in range(draw(st.integers(1, 8))):
        builder.grow()
    shape = draw(st.permutations(["batch", "seq", 4]))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    outputs = [
        helper.make_empty_tensor_value_info(name) for node in builder.nodes for name in node.output
    ]
    graph = helper.make_graph(builder.nodes, "g", [x], outputs, builder.weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_operatorsetid("", 17)])


def values_of(model: onnx.ModelProto) -> tuple[SymbolicValues, dict[str, ir.Value]]:
    graph = ir.from_proto(model)
    values = SymbolicValues(graph)
    return values, {value.name or "": value for node in graph.graph for value in node.outputs}


def assert_true(
    values: SymbolicValues, value: ir.Value, actual: Any, sizes: dict[str, int]
) -> None:
    """What is known about the value holds for the array that was really computed."""
    shape, content = values.shape(value), values.of(value)
    if shape is not None:
        claimed = [number(dim, sizes) for dim in shape]
        assert len(claimed) == actual.ndim, value.name
        for claim, size in zip(claimed, actual.shape, strict=True):
            assert claim in (None, size), (value.name, str(shape), actual.shape)
    if content is not None:
        elements = content if isinstance(content, tuple) else (content,)
        for element, true in zip(elements, actual.ravel().tolist(), strict=True):
            claim = None if element is None else number(element, sizes)
            assert claim in (None, int(true)), (value.name, str(element), true)


def number(dim: int | Expression, sizes: dict[str, int]) -> int | None:
    result = dim.evaluate(sizes) if isinstance(dim, Expression) else dim
    return result if isinstance(result, int) else None


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, Any]:
    options = cast("Any", onnxruntime.SessionOptions())
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in model.graph.output]
    arrays = cast("list[Any]", session.run(names, feeds))
    return dict(zip(names, arrays, strict=True))


@settings(max_examples=60)
@given(graphs(), st.integers(2, 5), st.integers(2, 5))
def test_what_is_known_holds_whatever_the_sizes(
    model: onnx.ModelProto, batch: int, seq: int
) -> None:
    sizes = {"batch": batch, "seq": seq}
    shape = [
        dim.dim_value or sizes[dim.dim_param]
        for dim in model.graph.input[0].type.tensor_type.shape.dim
    ]
    try:
        arrays = run(model, {"x": np.zeros(shape, np.float32)})
    except Exception:  # ORT's bindings raise many types; an impossible graph proves nothing
        return
    empty = any(array.size == 0 for array in arrays.values())
    if empty and any(node.op_type == "ReduceMax" for node in model.graph.node):
        return  # ONNX Runtime 1.31 gives a reduction of no elements its input's shape
    values, made = values_of(model)
    for name, value in made.items():
        assert_true(values, value, arrays[name], sizes)


@settings(max_examples=60)
@given(graphs())
def test_where_onnx_knows_a_size_we_do_not_know_another(model: onnx.ModelProto) -> None:
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return
    values, made = values_of(model)
    for info in inferred.graph.output:
        shape = values.shape(made[info.name])
        theirs = info.type.tensor_type.shape.dim
        if shape is None or not info.type.tensor_type.HasField("shape"):
            continue
        assert len(shape) == len(theirs)
        for ours, dim in zip(shape, theirs, strict=True):
            if dim.HasField("dim_value") and isinstance(ours, int):
                assert ours == dim.dim_value
            if dim.dim_param in NAMES and isinstance(ours, Expression):
                assert str(ours) == dim.dim_param or "?" in str(ours)


def zoo_models() -> list[Path]:
    folder = Path(ZOO) / "nasty"
    return sorted(folder.glob("*.onnx")) if ZOO else []


@pytest.mark.skipif(not ZOO, reason="PASSLENS_ZOO does not point to the collection of models")
@pytest.mark.parametrize("path", zoo_models(), ids=lambda path: path.stem)
def test_on_real_files_we_never_contradict_onnx(path: Path) -> None:
    model = onnx.load(path, load_external_data=False)
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    values, made = values_of(model)
    known = {info.name: info for info in (*inferred.graph.value_info, *inferred.graph.output)}
    for name, value in made.items():
        shape = values.shape(value)
        if shape is None or name not in known:
            continue
        theirs = known[name].type.tensor_type
        if theirs.HasField("shape"):
            assert len(theirs.shape.dim) == len(shape)
            for ours, dim in zip(shape, theirs.shape.dim, strict=True):
                if isinstance(ours, int) and dim.HasField("dim_value"):
                    assert ours == dim.dim_value, name
