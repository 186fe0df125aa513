"""Small files that ask for enormous work."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from onnx import AttributeProto, helper

from tests.corpus.cases import (
    BOOL,
    INT64,
    bomb,
    case,
    const,
    field,
    i64,
    model,
    raw_model,
    relu_chain,
    relu_model,
    save,
    value,
    varint,
)


@case("bomb", "view")
def constant_of_shape_1e12(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("ConstantOfShape", ["s"], ["y"]),
        i64("s", 1_000_000, 1_000_000),
        rank=2,
    )


@case("bomb", "view")
def constant_of_shape_3gib(folder: Path) -> None:
    """Below a naive 'absurd' limit, still fatal on a small host."""
    bomb(folder, helper.make_node("ConstantOfShape", ["s"], ["y"]), i64("s", 3 << 28))


@case("bomb", "view")
def constant_of_shape_overflow(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("ConstantOfShape", ["s"], ["y"]),
        i64("s", 1 << 31, 1 << 31, 4),
        rank=3,
    )


@case("bomb", "view")
def constant_of_shape_negative(folder: Path) -> None:
    bomb(folder, helper.make_node("ConstantOfShape", ["s"], ["y"]), i64("s", -1))


@case("bomb", "view")
def expand_bomb(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("Expand", ["c", "s"], ["y"]),
        const("c", np.float32(1)),
        i64("s", 1 << 20, 1 << 20),
        rank=2,
    )


@case("bomb", "view")
def tile_bomb(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("Tile", ["c", "r"], ["y"]),
        const("c", np.ones(4, np.float32)),
        i64("r", 1 << 38),
    )


@case("bomb", "view")
def range_bomb(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("Range", ["a", "b", "c"], ["y"]),
        const("a", np.int64(0)),
        const("b", np.int64(1 << 40)),
        const("c", np.int64(1)),
        dtype=INT64,
    )


@case("bomb", "view")
def range_step_zero(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("Range", ["a", "b", "c"], ["y"]),
        const("a", np.int64(0)),
        const("b", np.int64(9)),
        const("c", np.int64(0)),
        dtype=INT64,
    )


@case("bomb", "view")
def pad_bomb(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("Pad", ["c", "p"], ["y"]),
        const("c", np.ones(4, np.float32)),
        i64("p", 1 << 39, 1 << 39),
    )


@case("bomb", "view")
def one_hot_bomb(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("OneHot", ["i", "n", "v"], ["y"]),
        i64("i", 0, 1, 2, 3),
        i64("n", 1 << 40),
        const("v", np.array([0, 1], np.float32)),
        rank=2,
    )


@case("bomb", "view")
def resize_bomb(folder: Path) -> None:
    bomb(
        folder,
        helper.make_node("Resize", ["c", "", "s"], ["y"], mode="nearest"),
        const("c", np.ones((1, 1, 4, 4), np.float32)),
        const("s", np.array([1, 1, 1e6, 1e6], np.float32)),
        rank=4,
    )


@case("bomb", "view")
def random_bomb(folder: Path) -> None:
    bomb(folder, helper.make_node("RandomNormal", [], ["y"], shape=[1 << 20, 1 << 20]), rank=2)


@case("bomb", "view")
def doubling_chain(folder: Path) -> None:
    """Forty Concat(x, x): each step is modest, the result is 4 TiB."""
    nodes = [
        helper.make_node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], axis=0) for i in range(40)
    ]
    nodes.append(helper.make_node("Relu", ["v40"], ["y"]))
    bomb(folder, nodes, const("v0", np.ones(1, np.float32)))


@case("bomb", "view")
def outer_product_bomb(folder: Path) -> None:
    nodes = [
        helper.make_node("Reshape", ["c", "s"], ["col"]),
        helper.make_node("Mul", ["c", "col"], ["y"]),
    ]
    bomb(folder, nodes, const("c", np.ones(1 << 18, np.float32)), i64("s", -1, 1), rank=2)


def loop_case(folder: Path, trip: int, *, scan: bool) -> None:
    nodes = [
        helper.make_node("Identity", ["c_in"], ["c_out"]),
        helper.make_node("Relu", ["v_in"], ["v_out"]),
    ]
    outputs = [value("c_out", (), BOOL), value("v_out", None)]
    if scan:
        nodes.append(helper.make_node("Identity", ["v_in"], ["s_out"]))
        outputs.append(value("s_out", None))
    inputs = [value("i", (), INT64), value("c_in", (), BOOL), value("v_in", None)]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    results = ["y", "scan"] if scan else ["y"]
    bomb(
        folder,
        helper.make_node("Loop", ["m", "t", "v0"], results, body=body),
        const("m", np.int64(trip)),
        const("t", np.bool_(True)),
        const("v0", np.ones(1024, np.float32)),
    )


@case("bomb", "view")
def loop_forever(folder: Path) -> None:
    loop_case(folder, (1 << 63) - 1, scan=False)


@case("bomb", "view")
def loop_scan_memory(folder: Path) -> None:
    loop_case(folder, 1 << 40, scan=True)


def nested_if(depth: int) -> bytes:
    """If inside If, written from the inside out and straight to the wire, at any depth."""

    def node(op: str, inputs: Sequence[str], output: str) -> bytes:
        return b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, op)

    def ends(output: str) -> bytes:
        return field(2, "b") + field(12, value(output).SerializeToString())

    before: list[bytes] = []
    after: list[bytes] = []
    core = field(1, node("Relu", ["x"], "y0")) + ends("y0")
    size = len(core)

    def wrap(number: int, head: bytes, tail: bytes) -> None:
        nonlocal size
        content = len(head) + size + len(tail)
        header = varint(number << 3 | 2) + varint(content)
        before.append(header + head)
        after.append(tail)
        size = len(header) + content

    for level in range(1, depth + 1):
        other = field(1, node("Abs", ["x"], f"e{level}")) + ends(f"e{level}")
        kind = field(20, AttributeProto.GRAPH)
        other_branch = field(5, field(1, "else_branch") + field(6, other) + kind)
        wrap(6, b"", b"")
        wrap(5, field(1, "then_branch"), kind)
        wrap(1, node("If", ["c"], f"y{level}"), other_branch)
        before.append(b"")
        after.append(ends(f"y{level}"))
        size += len(after[-1])
    inputs = (value("x"), value("c", (), BOOL))
    graph = b"".join([*reversed(before), core, *after])
    return raw_model(graph + b"".join(field(11, i.SerializeToString()) for i in inputs))


@case("bomb", "run")
def if_depth_10(folder: Path) -> None:
    save(folder, nested_if(10))


@case("bomb", "view")
def if_depth_30(folder: Path) -> None:
    save(folder, nested_if(30))


@case("bomb", "reject")
def if_depth_1000(folder: Path) -> None:
    save(folder, nested_if(1000))


@case("bomb", "reject")
def if_depth_20000(folder: Path) -> None:
    """Deep enough to overflow the C stack of a recursive reader without a limit."""
    save(folder, nested_if(20_000))


@case("bomb", "view")
def chain_100k(folder: Path) -> None:
    save(folder, relu_chain(100_000))


@case("bomb", "view")
def chain_1m(folder: Path) -> None:
    save(folder, relu_chain(1_000_000))


@case("bomb", "view")
def wide_100k(folder: Path) -> None:
    save(folder, model([helper.make_node("Sum", ["x"] * 100_000, ["y"])]))


@case("bomb", "view")
def dense_dag(folder: Path) -> None:
    """60 layers of Add(v, v): two paths per layer, 2**60 paths for a naive walker."""
    names = ["x", *(f"v{i}" for i in range(59)), "y"]
    save(
        folder,
        model(helper.make_node("Add", [a, a], [b]) for a, b in pairwise(names)),
    )


@case("bomb", "view")
def attribute_10m_ints(folder: Path) -> None:
    attribute = field(1, "extra") + field(8, 7) * 10_000_000 + field(20, AttributeProto.INTS)
    node = field(1, "x") + field(2, "y") + field(4, "Relu") + field(5, attribute)
    ends = field(11, value("x").SerializeToString()) + field(12, value("y").SerializeToString())
    save(folder, raw_model(field(1, node) + ends))


@case("bomb", "view")
def attribute_50mb_string(folder: Path) -> None:
    save(folder, model([helper.make_node("Relu", ["x"], ["y"], extra="A" * 50_000_000)]))


@case("bomb", "view")
def million_value_infos(folder: Path) -> None:
    proto = relu_model()
    info = field(13, value("q").SerializeToString())
    graph = proto.graph.SerializeToString() + info * 1_000_000
    save(folder, raw_model(graph))
