"""Windows written as slices, against ONNX Runtime's own kernels, for every shape they come in."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import defs, helper, numpy_helper

from optimizer.hardware import missing, profile_of
from optimizer.passes.lowering.bodies import DEFINED
from optimizer.passes.lowering.lowering import lowerable
from optimizer.pipeline import Pipeline
from optimizer.registry import find
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.running import Feeds, differences, run

MATRIX_ENGINE = profile_of("matrix-engine")
OF_LATER = {
    "Bernoulli", "CausalConvWithState", "Clip", "DepthToSpace", "GroupNormalization",
    "LayerNormalization", "LinearAttention", "RMSNormalization", "Range", "ReduceLogSumExp",
    "SequenceMap", "Softplus", "SpaceToDepth", "SwiGLU", "FlexAttention",
}  # fmt: skip
"""Operators with bodies that are not taken; `DEFINED` says why."""


def lowered(proto: onnx.ModelProto, *pass_ids: str) -> onnx.ModelProto | None:
    """The model with everything lowered that the passes are about; None where they declined."""
    model = opened(proto)
    found = [declared for pass_id in pass_ids if (declared := find(pass_id)) is not None]
    assert len(found) == len(pass_ids)
    trace = optimize(model, Pipeline(tuple(declared() for declared in found)))
    assert not trace.failed
    if not trace.steps:
        assert trace.declined
        return None
    assert not missing(model.ir.graph, MATRIX_ENGINE)
    return proto_of(model.ir)


def one_node(
    node: onnx.NodeProto, shape: Sequence[int | str], opset: int, *weights: onnx.TensorProto
) -> onnx.ModelProto:
    """A model of one node that reads `x` and weights."""
    x = helper.make_tensor_value_info("x", 1, shape)
    y = helper.make_tensor_value_info("y", 1, [None] * len(shape))
    graph = helper.make_graph([node], "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def windows(pick: random.Random, kernel: list[int]) -> dict[str, Any]:
    """Strides, dilations and padding for a kernel."""
    spatial = len(kernel)
    found: dict[str, Any] = {
        "strides": kernel if pick.random() < 0.2 else pick.choices([1, 1, 2, 3], k=spatial),
        "dilations": pick.choices([1, 1, 2], k=spatial),
    }
    padding = pick.choice(["", "", "", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if padding:
        # The runtime takes no stride beyond the kernel here: it would pad by less than nothing.
        strides = [min(pair) for pair in zip(found["strides"], kernel, strict=True)]
        return {"strides": strides, "auto_pad": padding}
    limits = [min(2, size - 1) for size in kernel]
    return {**found, "pads": [pick.randint(0, limit) for limit in limits * 2]}


@pytest.mark.parametrize("seed", range(60))
def test_a_convolution_of_any_shape_is_the_product_it_is_written_as(seed: int) -> None:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    group, channels = pick.choice([1, 1, 2, 3]), pick.choice([1, 2])
    spatial = pick.choice([1, 2, 2, 3])
    kernel = [pick.choice([1, 2, 3] if spatial == 3 else [1, 2, 3, 5]) for _ in range(spatial)]
    sizes: list[int] = pick.choices([8, 9, 10], k=spatial)
    free = pick.choice([0, 0, 1, 2])
    shape = ["N" if free else 2, group * channels]
    shape += [f"s{axis}" if axis < free else size for axis, size in enumerate(sizes)]
    weight = numbers.normal(size=(group * 2, channels, *kernel)).astype(np.float32)
    bias = numbers.normal(size=group * 2).astype(np.float32)
    about: dict[str, Any] = {**windows(pick, kernel), "group": group}
    node = helper.make_node("Conv", ["x", "w", "b"][: pick.choice([2, 3])], ["y"], **about)
    initializers = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
    proto = one_node(node, shape, pick.choice([11, 13, 18]), *initializers[: len(node.input) - 1])
    feeds: Feeds = {"x": numbers.normal(size=(2, group * channels, *sizes)).astype(np.float32)}
    found = lowered(proto, "write-conv-as-matmul")
    if found is not None:
        assert differences(run(proto, feeds), run(found, feeds), exact=False) == []
    else:
        assert free, "only sizes that are free in the file may keep a convolution"


@pytest.mark.parametrize("kernel", [[40], [2, 33], [33, 2]])
def test_windows_longer_than_32_places_are_gathered_and_take_few_nodes(kernel: list[int]) -> None:
    numbers = np.random.default_rng(0)
    weight = numbers.normal(size=(2, 3, *kernel)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[3] * len(kernel))
    shape = (2, 3, *[50] * len(kernel))
    proto = one_node(node, shape, 17, numpy_helper.from_array(weight, "w"))
    feeds: Feeds = {"x": numbers.normal(size=shape).astype(np.float32)}
    found = lowered(proto, "write-conv-as-matmul")
    assert found is not None
    assert len(found.graph.node) < 12
    assert differences(run(proto, feeds), run(found, feeds), exact=False) == []


@pytest.mark.parametrize("seed", range(40))
def test_pooling_of_any_shape_is_the_reductions_it_is_written_as(seed: int) -> None:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    kernel = pick.choices([1, 2, 3, 4], k=pick.choice([1, 2, 2]))
    sizes = pick.choices([6, 7, 8], k=len(kernel))
    about = windows(pick, kernel)
    if pick.random() < 0.5 and "auto_pad" not in about:
        about["ceil_mode"] = 1
    operator = pick.choice(["AveragePool", "MaxPool"])
    if operator == "AveragePool":
        about["count_include_pad"] = pick.choice([0, 1])
    node = helper.make_node(operator, ["x"], ["y"], kernel_shape=kernel, **about)
    proto = one_node(node, [2, 3, *sizes], 19)
    feeds: Feeds = {"x": numbers.normal(size=(2, 3, *sizes)).astype(np.float32) - 5}
    found = lowered(proto, "lower-pooling")
    assert found is not None
    same = operator == "MaxPool"
    assert differences(run(proto, feeds), run(found, feeds), exact=same) == []


@pytest.mark.parametrize("seed", range(30))
def test_a_transposed_convolution_of_any_shape_is_the_product_it_is_written_as(seed: int) -> None:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    group, spatial = pick.choice([1, 1, 2]), pick.choice([1, 2, 2, 3])
    kernel, strides = pick.choices([1, 2, 3, 4], k=spatial), pick.choices([1, 2, 3], k=spatial)
    about: dict[str, Any] = {"strides": strides, "dilations": pick.choices([1, 1, 2], k=spatial)}
    sizes: list[int] = pick.choices([3, 4, 5], k=spatial)
    match pick.choice(["pads", "pads", "shape", "auto"]):
        case "pads":
            about["pads"] = [pick.randint(0, min(2, size - 1)) for size in kernel * 2]
            about["output_padding"] = [pick.randint(0, stride - 1) for stride in strides]
        case "shape":
            smaller = [
                s * (n - 1) + max(1, k - 1) for s, n, k in zip(strides, sizes, kernel, strict=True)
            ]
            about["output_shape"] = smaller
        case _:
            about["auto_pad"] = pick.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
            about["strides"] = [min(pair) for pair in zip(strides, kernel, strict=True)]
    weight = numbers.normal(size=(group * 2, 2, *kernel)).astype(np.float32)
    bias = numbers.normal(size=group * 2).astype(np.float32)
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=group, **about)
    initializers = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")]
    shape = (2, group * 2, *sizes)
    proto = one_node(node, shape, pick.choice([11, 13, 18]), *initializers)
    feeds: Feeds = {"x": numbers.normal(size=shape).astype(np.float32)}
    found = lowered(proto, "write-conv-transpose-as-conv", "write-conv-as-matmul")
    assert found is not None
    assert differences(run(proto, feeds), run(found, feeds), exact=False) == []


@pytest.mark.parametrize("seed", range(12))
def test_a_recurrent_layer_is_its_steps(seed: int) -> None:
    pick, numbers = random.Random(seed), np.random.default_rng(seed)
    kind, gates = pick.choice([("LSTM", 4), ("GRU", 3), ("GRU", 3), ("RNN", 1)])
    direction = pick.choice(["forward", "reverse", "bidirectional"])
    sides, hidden, steps = 1 + (direction == "bidirectional"), 3, pick.choice([1, 2, 5])
    about: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if kind == "GRU":
        about["linear_before_reset"] = pick.choice([0, 1])
    shapes = {
        "w": (sides, gates * hidden, 4), "r": (sides, gates * hidden, hidden),
        "b": (sides, 2 * gates * hidden), "h": (sides, 2, hidden), "c": (sides, 2, hidden),
    }  # fmt: skip
    given = [
        numpy_helper.from_array(numbers.normal(size=shape).astype(np.float32), name)
        for name, shape in shapes.items()
        if name != "c" or kind == "LSTM"
    ]
    states = ["", "h", "c"] if kind == "LSTM" else ["", "h"]
    inputs = ["x", "w", "r", *pick.choice([[], ["b"], ["b", *states]])]
    node = helper.make_node(kind, inputs, ["y"], **about)
    kept = [tensor for tensor in given if tensor.name in inputs]
    proto = one_node(node, (steps, 2, 4), pick.choice([8, 13, 18]), *kept)
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, [None] * 4))
    feeds: Feeds = {"x": numbers.normal(size=(steps, 2, 4)).astype(np.float32)}
    found = lowered(proto, "unroll-recurrence", "lower-elementwise")
    assert found is not None
    assert differences(run(proto, feeds), run(found, feeds), exact=False) == []


def test_every_operator_that_onnx_defines_by_others_is_lowered_or_named_as_left_out() -> None:
    schemas: list[Any] = [s for s in defs.get_all_schemas() if not s.domain and not s.deprecated]
    defined = {s.name for s in schemas if s.has_function or s.has_context_dependent_function}
    assert defined <= {*DEFINED, *OF_LATER}
    assert set(DEFINED) <= {s.name for s in schemas}


@pytest.mark.parametrize(
    ("pass_id", "node", "reason"),
    [
        ("inline-function-bodies", "Softmax (x)", "has no Softmax"),
        ("inline-function-bodies", "HardSwish (x)", "has no HardSwish"),
        ("inline-function-bodies", "Mish (x)", "has no Mish"),
        ("inline-function-bodies", "Relu (x)", "has no Relu"),
        ("lower-normalization", "LayerNormalization (x, w)", "has no LayerNormalization"),
        ("lower-reductions", "ReduceMean (x, axes)", "takes ReduceMean as it was in opset 13"),
    ],
)
def test_what_a_pass_takes_apart_no_other_one_puts_together(
    pass_id: str, node: str, reason: str
) -> None:
    source = f"""<ir_version: 10, opset_import: ["" : 18]>
    g (float[2,4] x, float[4] w) => (float[N,4] y) <int64[1] axes = {{0}}> {{ y = {node} }}"""
    model = opened(source)
    trace = optimize(model, Pipeline.of("portable", enable=[pass_id]))
    assert not trace.stopped
    assert node.split()[0] not in {one.op_type for one in model.ir.graph}
    assert any(reason in one.reason and pass_id in one.reason for one in trace.declined)


def test_what_passes_lower_to_is_on_the_device_or_lowered_in_turn() -> None:
    source = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,4,4,4] x, float[3,4,2,2] w) => (y) { y = Conv(x, w) }"""
    model = opened(source)
    found = find("write-conv-as-matmul")
    assert found is not None
    text = '# small\n[[operators]]\nnames = "MatMul Add"'
    trace = optimize(model, Pipeline((found(profile=text),)))  # pyright: ignore[reportCallIssue] - the pass has this option
    assert not trace.steps
    assert [declined.reason for declined in trace.declined] == [
        "small has no Slice either, which it would be written with"
    ]
    assert "Conv" in lowerable()


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bij,bjk->bki", (2, 3, 4), (2, 4, 5)),
    ("i,j->ij", (3,), (4,)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("ijk->ki", (2, 3, 4)),
    ("abc,cd,de->abe", (2, 3, 4), (4, 5), (5, 6)),
    ("bqhd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 4, 5)),
    ("ij,kj", (2, 3), (4, 3)),
    ("abij,ij->ab", (2, 3, 4, 5), (4, 5)),
    ("i,i->i", (4,), (4,)),
    ("...ij,...jk->...ik", (2, 3, 4, 5), (3, 5, 6)),
    ("bi...,ij", (2, 3, 4), (3, 5)),
    ("bii,ij->bj", (2, 3, 3), (3, 4)),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=lambda case: case[0])
def test_an_einsum_is_the_products_that_numpy_computes(case: tuple[Any, ...]) -> None:
    equation: str = case[0]
    shapes: list[tuple[int, ...]] = list(case[1:])
    numbers = np.random.default_rng(0)
    feeds: dict[str, np.ndarray] = {
        f"x{i}": numbers.normal(size=s).astype(np.float32) for i, s in enumerate(shapes)
    }
    expected = np.einsum(equation, *feeds.values())
    inputs = [helper.make_tensor_value_info(n, 1, a.shape) for n, a in feeds.items()]
    output = helper.make_tensor_value_info("y", 1, expected.shape)
    node = helper.make_node("Einsum", [*feeds], ["y"], equation=equation)
    graph = helper.make_graph([node], "g", inputs, [output])
    opset = [helper.make_opsetid("", 17)]
    found = lowered(helper.make_model(graph, opset_imports=opset, ir_version=8), "lower-einsum")
    assert found is not None
    assert differences([expected], run(found, feeds), exact=False) == []


RESIZED = [(1.0, 1.0, 2.0, 0.6), (1.0, 1.0, 0.5, 3.0)]
RESIZES = [
    *itertools.product(["nearest", "linear", "cubic"], RESIZED),
    *itertools.product(["nearest", "linear"], [(1.0, 1.7, 1.0, 1.0)]),  # no kernel for cubic
]


@pytest.mark.parametrize(
    "places", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
)
@pytest.mark.parametrize(("mode", "scales"), RESIZES)
def test_a_resize_is_the_products_it_is_written_as(
    mode: str, scales: tuple[float, ...], places: str
) -> None:
    about = {"mode": mode, "coordinate_transformation_mode": places}
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **about)
    given = numpy_helper.from_array(np.array(scales, np.float32), "scales")
    proto = one_node(node, (1, 3, 5, 7), 17, given)
    feeds = {"x": np.random.default_rng(0).normal(size=(1, 3, 5, 7)).astype(np.float32)}
    found = lowered(proto, "lower-resize")
    assert found is not None
    assert differences(run(proto, feeds), run(found, feeds), exact=mode == "nearest") == []


@pytest.mark.parametrize(
    ("about", "operands"),
    [
        ({"mode": "cubic", "exclude_outside": 1}, {"scales": [1.0, 1.0, 2.0, 0.6]}),
        ({"mode": "linear", "axes": [3, 2]}, {"scales": [2.0, 1.5]}),
        (
            {"mode": "linear", "keep_aspect_ratio_policy": "not_larger", "axes": [2, 3]},
            {"sizes": [7, 9]},
        ),
        (
            {"mode": "nearest", "keep_aspect_ratio_policy": "not_smaller", "axes": [2, 3]},
            {"sizes": [7, 9]},
        ),
        (
            {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"},
            {"roi": [0.0, 0.0, 0.2, 0.1, 1.0, 1.0, 0.9, 0.7], "sizes": [1, 3, 4, 9]},
        ),
        (
            {"mode": "cubic", "coordinate_transformation_mode": "half_pixel_symmetric"},
            {"scales": [1.0, 1.0, 1.7, 0.6]},
        ),
    ],
)
def test_a_resize_of_some_axes_of_a_part_or_of_an_aspect_is_its_products(
    about: dict[str, Any], operands: dict[str, list[float]]
) -> None:
    names = ["roi", "scales", "sizes"]
    inputs = ["x", *(name if name in operands else "" for name in names)]
    node = helper.make_node("Resize", inputs, ["y"], **about)
    given = [
        numpy_helper.from_array(
            np.array(numbers, np.int64 if name == "sizes" else np.float32), name
        )
        for name, numbers in operands.items()
    ]
    proto = one_node(node, (1, 3, 5, 7), 19, *given)
    feeds = {"x": np.random.default_rng(0).normal(size=(1, 3, 5, 7)).astype(np.float32)}
    shape = run(proto, feeds)[0].shape
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, shape))
    found = lowered(proto, "lower-resize")
    assert found is not None
    exact = about["mode"] == "nearest"
    assert differences(run(proto, feeds), run(found, feeds), exact=exact) == []
