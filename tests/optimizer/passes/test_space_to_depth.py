"""Blocks of places that become channels, cut in every way, against numpy."""

from __future__ import annotations

from itertools import permutations, product
from math import prod

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of

RECOGNIZED_BY = "recognize-space-to-depth"


def ints(name: str, *numbers: int) -> onnx.TensorProto:
    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)


def model(
    nodes: list[onnx.NodeProto],
    constants: list[onnx.TensorProto],
    shape: tuple[int, ...],
    rank: int,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "blocks",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rewritten(source: onnx.ModelProto) -> list[str]:
    """The operators left; what they compute is what the source does, bit for bit."""
    made = opened(source)
    optimize(made, Pipeline.listed([RECOGNIZED_BY]))
    after = proto_of(made.ir)
    shape = tuple(d.dim_value for d in source.graph.input[0].type.tensor_type.shape.dim)
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    (wanted,), (found,) = (ReferenceEvaluator(m).run(None, {"x": x}) for m in (source, after))
    assert np.array_equal(wanted, found)
    return [node.op_type for node in after.graph.node]


@st.composite
def cut(draw: st.DrawFn) -> tuple[onnx.ModelProto, tuple[int, ...], dict[int, int], int, bool]:
    """Slices of blocks put together: model, shape, blocks by axis, axis of Concat, in order."""
    rank = draw(st.integers(2, 4))
    axes = draw(st.permutations(range(rank)))[: draw(st.integers(1, min(3, rank - 1)))]
    blocks = {axis: draw(st.integers(2, 3)) for axis in axes}
    shape = tuple(draw(st.integers(1, 3)) * blocks.get(axis, 1) for axis in range(rank))
    at = draw(st.sampled_from([axis for axis in range(rank) if axis not in blocks]))
    places = [*product(*(range(block) for block in blocks.values()))]
    order = draw(st.permutations(places)) if draw(st.booleans()) else places
    at_once = draw(st.booleans())
    nodes: list[onnx.NodeProto] = []
    constants = [ints("end", 2**62), ints("ends", *[2**62] * len(axes)), ints("axes", *axes)]
    constants.append(ints("steps", *blocks.values()))
    parts: list[str] = []
    for number, place in enumerate(order):
        if at_once:
            constants.append(ints(f"s{number}", *place))
            operands = ["x", f"s{number}", "ends", "axes", "steps"]
            nodes.append(helper.make_node("Slice", operands, [f"p{number}"]))
            parts.append(f"p{number}")
            continue
        value = "x"
        for axis, start in zip(blocks, place, strict=True):
            names = [f"{what}_{number}_{axis}" for what in ("from", "axis", "step", "part")]
            constants += [ints(names[0], start), ints(names[1], axis), ints(names[2], blocks[axis])]
            nodes.append(
                helper.make_node("Slice", [value, names[0], "end", *names[1:3]], [names[3]])
            )
            value = names[3]
        parts.append(value)
    nodes.append(helper.make_node("Concat", parts, ["y"], axis=at))
    ordered = any(
        [tuple(place[axes.index(axis)] for axis in turned) for place in order]
        == [*product(*(range(blocks[axis]) for axis in turned))]
        for turned in permutations(axes)
    )
    return model(nodes, constants, shape, rank), shape, blocks, at, ordered


@settings(max_examples=150, deadline=None)
@given(cut())
def test_slices_of_blocks_are_moved_wherever_that_pays(
    case: tuple[onnx.ModelProto, tuple[int, ...], dict[int, int], int, bool],
) -> None:
    source, shape, blocks, at, ordered = case
    left = rewritten(source)
    image = len(shape) == 4 and at == 1 and sorted(blocks) == [2, 3]
    squares = image and len({*blocks.values()}) == 1
    if not ordered or (at < max(blocks) and not squares):
        assert left == [node.op_type for node in source.graph.node]
    elif squares:
        assert left in (["SpaceToDepth"], ["SpaceToDepth", "Gather"])
    else:
        assert left in (["Reshape"], ["Reshape", "Transpose", "Reshape"])


@pytest.mark.parametrize("block", [2, 3])
@pytest.mark.parametrize("perm", [*permutations((1, 3, 5))])
def test_every_order_of_channels_is_space_to_depth(perm: tuple[int, ...], block: int) -> None:
    cut_shape, result = (0, 2, 3, block, 2, block), (0, 2 * block * block, 3, 2)
    nodes = [
        helper.make_node("Reshape", ["x", "cut"], ["p"]),
        helper.make_node("Transpose", ["p"], ["q"], perm=[0, *perm, 2, 4]),
        helper.make_node("Reshape", ["q", "whole"], ["y"]),
    ]
    constants = [ints("cut", *cut_shape), ints("whole", *result)]
    left = rewritten(model(nodes, constants, (2, 2, 3 * block, 2 * block), 4))
    assert left == ["SpaceToDepth", "Gather"][: 1 if perm == (3, 5, 1) else 2]


@pytest.mark.parametrize("perm", [*permutations((1, 2, 3))])
def test_both_orders_of_channels_are_depth_to_space(perm: tuple[int, int, int]) -> None:
    channel, row, column = perm
    sizes = {channel: 2, row: 3, column: 3}
    nodes = [
        helper.make_node("Reshape", ["x", "cut"], ["p"]),
        helper.make_node("Transpose", ["p"], ["q"], perm=[0, channel, 4, row, 5, column]),
        helper.make_node("Reshape", ["q", "whole"], ["y"]),
    ]
    constants = [ints("cut", 0, *(sizes[n] for n in (1, 2, 3)), 4, 5), ints("whole", 0, 2, 12, 15)]
    left = rewritten(model(nodes, constants, (2, 18, 4, 5), 4))
    known = perm in {(3, 1, 2), (1, 2, 3)}
    assert left == (["DepthToSpace"] if known else ["Reshape", "Transpose", "Reshape"])
