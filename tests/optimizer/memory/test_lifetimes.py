from __future__ import annotations

import onnx_ir as ir
import pytest

from optimizer.errors import PlanError
from optimizer.memory.arena import Arena, Lifetime, LifetimeOptions
from optimizer.memory.lifetimes import lifetimes
from optimizer.model.graph import value_id
from tests.optimizer.graphs import opened

HEADER = '<ir_version: 10, opset_import: ["": 18, "com.microsoft": 1]>'


def graph_of(body: str) -> ir.Graph:
    return opened(f"{HEADER} {body}").ir.graph


def arena_of(body: str, options: LifetimeOptions | None = None, **sizes: int) -> Arena:
    return lifetimes(graph_of(body), options or LifetimeOptions(), sizes=sizes)


def named(arena: Arena, name: str) -> Lifetime:
    return next(lifetime for lifetime in arena.lifetimes if lifetime.name == name)


def names(arena: Arena, region: str = "activations") -> list[str]:
    return [lifetime.name for lifetime in arena.lifetimes if lifetime.region == region]


def test_three_regions_and_the_steps_at_which_they_are_needed() -> None:
    arena = arena_of(
        """g (float[2, 2] x) => (y) <float[2, 2] w = {1, 2, 3, 4}>
        { a = MatMul(x, w) b = Transpose(a) c = Transpose(a) d = MatMul(b, c) y = Transpose(d) }"""
    )
    lived = {one.name: (one.region, one.start, one.end) for one in arena.lifetimes}
    assert lived == {
        "w": ("weights", 0, 5),
        "x": ("inputs and outputs", 0, 5),
        "a": ("activations", 0, 3),
        "b": ("activations", 1, 4),
        "c": ("activations", 2, 4),
        "d": ("activations", 3, 5),
        "y": ("inputs and outputs", 4, 5),
    }
    assert named(arena, "a").readers == ("n1", "n2")
    assert named(arena, "a").node == "n0"


def test_a_result_nobody_reads_is_there_for_its_own_step_only() -> None:
    arena = arena_of("g (float[100] x) => (y) { a = Transpose(x) y = Transpose(x) }")
    assert (named(arena, "a").start, named(arena, "a").end) == (0, 1)


def test_views_are_the_memory_they_look_at_and_keep_it_alive() -> None:
    body = """g (float[4, 25] x) => (y) <int64[1] flat = {100}>
        { a = Transpose(x) v = Reshape(a, flat) w = Identity(v) b = Transpose(x)
          y = ReduceSum(w) }"""
    shared = arena_of(body)
    assert named(shared, "a").values == ("n0:0", "n1:0", "n2:0")
    assert (named(shared, "a").start, named(shared, "a").end) == (0, 5)
    assert names(arena_of(body, LifetimeOptions(views=False, in_place=False))) == list("avwb")


def test_a_view_of_an_input_is_the_callers_memory() -> None:
    arena = arena_of("g (float[4] x) => (y) { v = Identity(x) y = Transpose(v) }")
    assert named(arena, "x").values == ("i0", "n0:0")
    assert names(arena) == []


def test_two_outputs_never_share_memory_nor_does_an_output_share_an_inputs() -> None:
    arena = arena_of(
        "g (float[4] x) => (y, z, o) { a = Transpose(x) y = Identity(a) z = Identity(a)"
        " o = Identity(x) }"
    )
    outputs = {one.name: one.values for one in arena.lifetimes if one.region != "weights"}
    assert outputs == {"x": ("i0",), "a": ("n0:0", "n1:0"), "z": ("n2:0",), "o": ("n3:0",)}
    assert named(arena, "a").region == "inputs and outputs"


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ("a = Transpose(x) b = Relu(a) c = Transpose(a) d = Add(b, c)", "a is read again"),
        ("a = Transpose(x) v = Identity(a) b = Relu(a) d = Add(b, v)", "a view of a is read again"),
        ("b = Relu(x) d = Transpose(b)", "x is the caller's"),
        ("a = ReduceSum(x) b = Add(x, a) d = Transpose(b)", "a is smaller than the sum"),
        ("a = Transpose(x) b = Cast<to = 10>(a) d = Cast<to = 1>(b)", "the width differs"),
        ("a = Transpose(x) b = Transpose(a) d = Transpose(b)", "every element goes elsewhere"),
    ],
)
def test_no_result_is_written_over_what_is_still_needed_or_does_not_fit(
    nodes: str, why: str
) -> None:
    arena = arena_of(f"g (float[100] x) => (y) {{ {nodes} y = Transpose(d) }}")
    b = next(one for one in arena.lifetimes if one.name == "b")
    assert b.values[0] == value_id(_value(nodes, "b")), why


def _value(nodes: str, name: str) -> ir.Value:
    graph = graph_of(f"g (float[100] x) => (y) {{ {nodes} y = Transpose(d) }}")
    return next(value for node in graph for value in node.outputs if value.name == name)


def test_a_graph_output_is_neither_overwritten_nor_written_over_something() -> None:
    arena = arena_of("g (float[9] x) => (a, y) { a = Transpose(x) b = Relu(a) y = Relu(b) }")
    assert [one.values for one in arena.lifetimes] == [("i0",), ("n0:0",), ("n1:0",), ("n2:0",)]


def test_of_two_inputs_the_one_that_dies_is_overwritten() -> None:
    body = """g (float[9] x) => (y)
        { a = Transpose(x) b = Transpose(x) c = Add(a, b) d = Transpose(c) y = MatMul(d, a) }"""
    arena = arena_of(body)
    assert named(arena, "b").values == ("n1:0", "n2:0")
    assert named(arena, "a").values == ("n0:0",)
    assert names(arena_of(body, LifetimeOptions(in_place=False))) == list("abcd")


def test_a_softmax_writes_over_its_row() -> None:
    arena = arena_of("g (float[9] x) => (y) { a = Neg(x) b = Softmax(a) y = Transpose(b) }")
    assert named(arena, "a").values == ("n0:0", "n1:0")


def test_a_dropout_that_trains_is_no_view() -> None:
    arena = arena_of(
        "g (float[9] x, bool train) => (y) <float r = {0.5}>"
        "{ a = Transpose(x) b = Dropout(a, r, train) c = Dropout(b, r) y = Transpose(c) }"
    )
    assert [one.values for one in arena.of("activations")] == [("n0:0",), ("n1:0", "n2:0")]


def test_what_is_computed_from_constants_is_a_weight_and_takes_no_step() -> None:
    arena = arena_of(
        """g (float[4] x) => (y) <float[4] w = {1, 2, 3, 4}>
        { k = Constant<value = int64[1] {4}>() r = Reshape(w, k) t = Neg(r) s = Exp(t)
          a = Add(x, s) n = RandomNormalLike(w) b = Add(a, n) y = Transpose(b) }"""
    )
    weights = {one.name: one.values for one in arena.of("weights")}
    assert weights == {"w": ("w0", "n1:0"), "k": ("n0:0",), "s": ("n3:0",)}
    assert arena.nodes == ("n4", "n5", "n6", "n7")
    assert [one.readers for one in arena.of("weights")] == [("n5",), (), ("n4",)]


def test_a_tensor_of_two_initializers_counts_once() -> None:
    graph = graph_of("g (float[2] x) => (y) <float[2] v = {1, 2}, float[2] w = {1, 2}>"
                     "{ a = Add(x, v) y = Add(a, w) }")  # fmt: skip
    v, w = graph.initializers["v"], graph.initializers["w"]
    assert len(lifetimes(graph).of("weights")) == 2
    w.const_value = v.const_value
    (weight,) = lifetimes(graph).of("weights")
    assert set(weight.values) == {value_id(v), value_id(w)}
    assert weight.size_bytes == 8


def test_sizes_are_rounded_up_for_plans_and_kept_for_people() -> None:
    body = "g (float[9] x) => (y) { a = Transpose(x) y = Transpose(a) }"
    cuda = arena_of(body, LifetimeOptions(alignment=256))
    assert cuda.of("activations")[0].size_bytes == 36
    assert cuda.buffers()[0].size_bytes == 256


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('g (float["n", 4] x) => (y) { a = Transpose(x) y = Transpose(a) }',
         "it depends on the free dimension 'n'"),
        ("g (float[?, 4] x) => (y) { a = Transpose(x) y = Transpose(a) }",
         "a size is unknown before the run (from Transpose 'n0')"),
        ("g (float[4] x) => (y) { a = NonZero(x) y = Neg(a) }",
         "a size is unknown before the run (from NonZero 'n0')"),
        ("g (float[4] x) => (y) { a = SequenceConstruct(x) y = SequenceAt(a, x) }",
         "a sequence or an optional has no fixed size"),
        ("g (string[4] x) => (y) { a = Transpose(x) y = Transpose(a) }",
         "text has no fixed size"),
        ("g (float[4] x) => (y) { a = my.Op(x) y = Neg(a) }",
         "its element type is unknown (from Op 'n0')"),
    ],
)  # fmt: skip
def test_an_unknown_size_is_reported_with_its_reason_and_never_planned(
    body: str, reason: str
) -> None:
    arena = arena_of(body)
    found = {one.name: one.reason for one in arena.unknown if one.region == "activations"}
    assert found == {"a": reason}
    assert arena.of("activations") == ()
    with pytest.raises(PlanError, match="1 value has no known size"):
        arena.buffers()


def test_a_size_for_the_free_dimension_makes_everything_known() -> None:
    arena = arena_of('g (float["n", 4] x) => (y) { a = Softmax(x) y = Transpose(a) }', n=3)
    assert arena.unknown == ()
    assert named(arena, "a").size_bytes == 48
    assert named(arena, "a").shape == (3, 4)


def test_a_view_of_known_size_tells_the_size_of_what_it_looks_at() -> None:
    graph = graph_of("g (float[4] x) => (y) { a = my.Op(x) v = Identity(a) y = Neg(v) }")
    v = next(value for node in graph for value in node.outputs if value.name == "v")
    v.type, v.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape([100])
    arena = lifetimes(graph)
    assert arena.of("activations")[0].size_bytes == 400
    assert [one.region for one in arena.unknown] == ["inputs and outputs"]


def test_unknown_weights_do_not_stand_in_the_way_of_a_plan_of_activations() -> None:
    arena = arena_of(
        'g (float[4] x) => (y) { s = Constant<value = string[1] {"a"}>() a = Neg(x) y = Exp(a) }'
    )
    assert len(arena.buffers()) == 1
    with pytest.raises(PlanError, match="text has no fixed size"):
        arena.buffers("weights")


BODY = """
g (bool c, float[100] x) => (y)
{
  a = Transpose(x)
  b = Transpose(a)
  i = If (c) <
    then_branch = t () => (float[100] p) { k = Transpose(a) m = Relu(k) p = Transpose(m) },
    else_branch = e () => (float[100] q) { q = Relu(a) }
  >
  y = Add(i, b)
}
"""


def test_what_a_body_reads_is_alive_until_its_owner_has_run() -> None:
    arena = arena_of(BODY)
    assert (named(arena, "a").readers, named(arena, "a").end) == (("n1", "n2"), 3)
    then_arena, else_arena = arena.bodies
    assert (then_arena.owner, then_arena.operator, then_arena.nodes) == (
        "n2", "If", ("n3", "n4", "n5"),
    )  # fmt: skip
    assert [one.values for one in then_arena.of("activations")] == [("n3:0", "n4:0")]
    assert [one.name for one in else_arena.lifetimes] == ["q"]


def test_an_order_moves_lifetimes_and_must_be_one_of_the_graph() -> None:
    graph = graph_of("g (float[9] x) => (y) { a = Transpose(x) b = Transpose(x) y = Add(a, b) }")
    swapped = lifetimes(graph, order=["n1", "n0", "n2"])
    assert [one.name for one in swapped.of("activations")] == ["b", "a"]
    for order, message in [
        (["n0", "n1"], "has 2 nodes"),
        (["n0", "n1", "n1"], "has 3 nodes"),
        (["n0", "n2", "n1"], "before"),
        (["n0", "n1", "n2", "n7"], "names 'n7'"),
    ]:
        with pytest.raises(PlanError, match=message):
            lifetimes(graph, order=order)
