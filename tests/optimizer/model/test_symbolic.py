"""Following types, shapes and small integer values through a graph."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from optimizer.dimension import Dimension, symbol
from optimizer.model.symbolic import SymbolicValues


def model_of(body: str, *, opset: int = 17, extra: str = "") -> ir.Model:
    header = f'<ir_version: 8, opset_import: ["" : {opset}{extra}]>'
    return ir.from_proto(onnx.parser.parse_model(f"{header}\n{body}"))


def outputs(model: ir.Model) -> dict[str, ir.Value]:
    return {value.name or "": value for node in model.graph for value in node.outputs}


def shape_text(values: SymbolicValues, value: ir.Value) -> str:
    shape = values.shape(value)
    return "unknown" if shape is None else ", ".join(str(dim) for dim in shape)


EXPORTED_VIEW = """
g (float["batch", "seq", 768] x) => (float[a, b, c, d] y)
<int64 zero = {0}, int64 one = {1}, int64[1] axis = {0}, int64[2] heads = {12, 64}>
{
  shape = Shape(x)
  batch = Gather(shape, zero)
  shape2 = Shape(x)
  seq = Gather(shape2, one)
  b1 = Unsqueeze(batch, axis)
  s1 = Unsqueeze(seq, axis)
  target = Concat <axis = 0> (b1, s1, heads)
  y = Reshape(x, target)
}
"""


def test_the_shape_arithmetic_of_an_exported_view_is_followed() -> None:
    model = model_of(EXPORTED_VIEW)
    values = SymbolicValues(model)
    found = outputs(model)
    assert values.of(found["target"]) == (symbol("batch"), symbol("seq"), 12, 64)
    assert values.of(found["batch"]) == symbol("batch")
    assert shape_text(values, found["y"]) == "batch, seq, 12, 64"


def test_propagation_writes_what_is_new_and_keeps_what_is_declared() -> None:
    model = model_of(EXPORTED_VIEW)
    assert SymbolicValues(model).propagate(model.graph) == len(model.graph)
    written = outputs(model)["y"].shape
    assert [str(dim) for dim in written or ()] == ["batch", "seq", "12", "64"]
    assert SymbolicValues(model).propagate(model.graph) == 0


def test_symbols_of_inputs_never_become_numbers() -> None:
    body = """
    g (float["batch", "seq"] x, float[1, 512] mask) => (float["batch", "seq"] y)
    { y = Add(x, mask) }
    """
    model = model_of(body)
    SymbolicValues(model).propagate(model.graph)
    assert [str(dim) for dim in model.graph.inputs[0].shape or ()] == ["batch", "seq"]
    assert [str(dim) for dim in model.graph.outputs[0].shape or ()] == ["batch", "seq"]


def test_a_number_left_from_tracing_is_not_believed_but_left_in_place() -> None:
    body = """
    g (float["batch", 4] x) => (int64[2] y)
    <float[7, 4] h>
    { h = Relu(x) y = Shape(h) }
    """
    model = model_of(body)
    values = SymbolicValues(model)
    assert values.of(outputs(model)["y"]) == (symbol("batch"), 4)
    values.propagate(model.graph)
    assert outputs(model)["h"].shape == [7, 4]


DECIDED = [
    ("Reshape(x, s2)", 2),
    ("Expand(x, s2)", 2),
    ("Slice(x, s2, e2)", 2),
    ("Tile(x, s2)", 2),
    ("Pad(x, s4)", 2),
    ("Resize(x, none, none, s2)", 2),
    ("ConstantOfShape(s2)", 2),
    ("Range(start, limit, delta)", 1),
    ("Compress<axis=0>(x, mask)", 2),
    ("NonZero(x)", 2),
    ("OneHot<axis=0>(v, limit, two)", 2),
    ("TopK<axis=0>(x, s1)", 2),
    ("ReduceSum(x, s1)", 2),
]
CONTENTS = """float[4, 4] x, int64[4] v, int64[2] s2, int64[2] e2, int64[4] s4, int64[1] s1,
    int64 start, int64 limit, int64 delta, bool[4] mask, float[2] two"""


@pytest.mark.parametrize(("node", "rank"), DECIDED)
def test_a_size_that_values_decide_is_not_taken_from_what_is_declared(node: str, rank: int) -> None:
    sizes = ", ".join("7" * rank)
    first, again = ("r, p", f"float[{sizes}] p,") if "TopK" in node else ("r", "")
    body = f"""
    g ({CONTENTS}) => (float[{sizes}] y) <{again} float[{sizes}] r, float[0] none = {{}}>
    {{ {first} = {node} y = Identity(r) }}
    """
    model = model_of(body)
    values = SymbolicValues(model)
    assert [7 in (values.shape(outputs(model)[name]) or ()) for name in ("r", "y")] == [False] * 2
    assert outputs(model)["y"].shape == [7] * rank


def test_a_number_is_not_believed_where_what_a_node_reads_varies() -> None:
    body = """
    g (float["n", 4] x) => (float[2, 8] y, float[2, 8] z)
    <int64[2] target = {-1, 8}, float[2, 8] h>
    { h = Reshape(x, target) y = Relu(h) z = my.Op(h) }
    """
    model = model_of(body, extra=', "my" : 1')
    values = SymbolicValues(model)
    found = outputs(model)
    assert [(values.shape(found[name]) or ())[1:] for name in "hyz"] == [(8,)] * 3
    assert [(values.shape(found[name]) or (0,))[0] == 2 for name in "hyz"] == [False, False, True]


def test_a_loop_stacks_as_many_results_as_it_has_rounds() -> None:
    body = """
    g (int64 rounds, bool go, float[3] x) => (float[3] y, float[5, 3] all)
    {
      y, all = Loop (rounds, go, x) <
        body = b (int64 i, bool c, float[3] h) => (bool c, float[3] next, float[3] each)
          { next = Relu(h) each = Neg(next) }
      >
    }
    """
    model = model_of(body)
    values = SymbolicValues(model)
    carried, stacked = (values.shape(value) for value in model.graph.outputs)
    assert carried == (3,)
    assert 5 not in (stacked or ())


def test_values_are_alike_of_which_the_same_is_known_and_which_both_need_a_run_or_not() -> None:
    body = """
    g (float["n", 4] x, float[1, 4] z) => (float["n", 4] y)
    <float[1, 4] w = {1.0, 2.0, 3.0, 4.0}>
    { a = Relu(x) b = Neg(a) y = Add(b, w) }
    """
    model = model_of(body)
    values, found = SymbolicValues(model), outputs(model)
    (x, z), w = model.graph.inputs, model.graph.initializers["w"]
    assert values.are_alike(x, found["b"])
    assert not values.are_alike(x, z)
    assert not values.are_alike(z, w)  # as large, but the one is data already


def test_elements_that_become_known_are_news_though_the_graph_says_all_of_the_shape() -> None:
    body = """
    g (float["n", 4] x, int64[1] k) => (int64[1] y)
    <int64[1] two = {2}>
    { a = Identity(k) y = Neg(a) }
    """
    model = model_of(body)
    values, (first, second) = SymbolicValues(model), model.graph
    values.propagate(model.graph)
    assert values.refine(second) == []
    first.replace_input_with(0, model.graph.initializers["two"])
    (news,) = values.refine(first)
    assert (news.value, news.dtype, news.shape) == (first.outputs[0], None, None)
    (news,) = values.refine(second)
    assert values.of(news.value) == (-2,)


def test_a_contradiction_is_reported_and_not_applied() -> None:
    body = """
    g (float[2, 3] x) => (float[2, 4] y)
    { y = Relu(x) }
    """
    model = model_of(body)
    values = SymbolicValues(model)
    assert values.refine(model.graph[0]) == []
    assert "declared as [2,4], computed as [2,3]" in next(iter(values.contradictions.values()))
    assert not isinstance((values.shape(model.graph.outputs[0]) or (0, 0))[1], int)


def test_names_of_another_scheme_are_replaced_by_those_of_the_inputs() -> None:
    body = """
    g (float["batch", 4] x) => (float["batch", 4] y)
    <float["unk__7", 4] h>
    { h = Relu(x) y = Relu(h) }
    """
    model = model_of(body)
    SymbolicValues(model).propagate(model.graph)
    assert str(outputs(model)["h"].shape) == "[batch,4]"


def test_an_initializer_that_is_an_input_is_no_constant() -> None:
    body = """
    g (float[6] x, int64[2] target) => (float[a, b] y)
    <int64[2] target = {2, 3}>
    { y = Reshape(x, target) }
    """
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>{body}')
    proto.graph.initializer[0].name = "target"
    del proto.graph.input[1:]
    proto.graph.input.append(
        onnx.helper.make_tensor_value_info("target", onnx.TensorProto.INT64, [2])
    )
    model = ir.from_proto(proto)
    values = SymbolicValues(model)
    assert values.of(model.graph.inputs[1]) is None
    shape = values.shape(model.graph.outputs[0]) or ()
    assert len(shape) == 2
    assert not any(isinstance(dim, int) for dim in shape)


def test_what_nothing_is_known_about_is_equal_only_to_itself() -> None:
    body = """
    g (float["n"] x) => (int64 size)
    { y = NonZero(x) y2 = Relu(y) z = NonZero(x) sum = Add(y2, z) size = Size(sum) }
    """
    model = model_of(body)
    values = SymbolicValues(model)
    found = outputs(model)
    first, again, other = (values.shape(found[name]) or (0, 0) for name in ("y", "y2", "z"))
    assert first[0] == 1
    assert first[1] == again[1] != other[1]
    values.propagate(model.graph)
    assert str(found["y2"].shape) == "[1,None]"


NODES = [
    ("Reshape(x, zero_rest)", "n, 4"),
    ("Reshape(x, rest)", "4*n"),
    ("Reshape(x, rest_8)", "?, 8"),
    ("Concat<axis=0>(v, m)", "m + n"),
    ("Add(v, m)", "?"),
    ("Add(v, three)", "3"),
    ("MatMul(q, k)", "n, 2, 7"),
    ("Conv<strides=[2, 2], pads=[1, 1, 1, 1]>(image, kernel)", "n, 8, (h + 1)//2, 112"),
    ("MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(image)", "n, 3, h//2, 112"),
    ("MaxPool<kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1>(image)", "n, 3, ?, 112"),
    ("Flatten<axis=0>(x)", "1, 4*n"),
    ("ReduceMean<axes=[1], keepdims=0>(x)", "n"),
    ('Einsum<equation="ij,ij->j">(x, x)', "4"),
    ("Tile(x, zero_rest)", "0, ?"),
    ("Expand(three, two_one)", "2, 3"),
    ("Softmax(unknown)", "unknown"),
    ("Transpose<perm=[1, 0]>(x)", "4, n"),
    ("Squeeze(x)", "unknown"),
    ("Split<axis=1>(x)", "n, 4"),
]
SOURCES = """float["n", 4] x, float["n"] v, float["m"] m, float[3] three, float["n", 2, 5] q,
    float[5, 7] k, float["n", 3, "h", 224] image, float[8, 3, 3, 3] kernel, float unknown"""
CONSTANTS = """int64[2] zero_rest = {0, -1}, int64[1] rest = {-1}, int64[2] rest_8 = {-1, 8},
    int64[2] two_one = {2, 1}"""


@pytest.mark.parametrize(("node", "expected"), NODES)
def test_shapes_are_expressions_over_the_inputs(node: str, expected: str) -> None:
    model = model_of(f"g ({SOURCES}) => (int64 y) <{CONSTANTS}> {{ r = {node} y = Size(r) }}")
    model.graph.inputs[-1].shape = None
    text = shape_text(SymbolicValues(model), model.graph[0].outputs[0])
    assert ", ".join("?" if "?" in part else part for part in text.split(", ")) == expected


def test_a_chain_of_many_thousand_nodes_needs_no_deep_stack() -> None:
    x = ir.Value(name="x", shape=ir.Shape(["n"]), type=ir.TensorType(ir.DataType.FLOAT))
    nodes = [ir.node("Relu", [x])]
    for _ in range(20_000):
        nodes.append(ir.node("Relu", [nodes[-1].outputs[0]]))
    graph = ir.Graph([x], [nodes[-1].outputs[0]], nodes=nodes, opset_imports={"": 17})
    values = SymbolicValues(ir.Model(graph, ir_version=8))
    assert values.shape(graph.outputs[0]) == (symbol("n"),)


def test_a_cycle_is_unknown_instead_of_endless() -> None:
    x = ir.Value(name="x")
    first = ir.node("Relu", [x])
    second = ir.node("Relu", [first.outputs[0]])
    first.replace_input_with(0, second.outputs[0])
    graph = ir.Graph([], [second.outputs[0]], nodes=[first, second], opset_imports={"": 17})
    assert SymbolicValues(ir.Model(graph, ir_version=8)).shape(second.outputs[0]) is None


def test_unknown_operators_and_forms_are_unknown() -> None:
    body = """
    g (float["n"] x) => (y, z)
    { y = my.Op(x) z = ConstantOfShape(x) }
    """
    model = model_of(body, extra=', "my" : 1')
    values = SymbolicValues(model)
    assert all(values.shape(value) is None for value in (outputs(model)["y"], outputs(model)["z"]))


def test_values_of_the_outer_graph_are_known_inside_bodies() -> None:
    body = """
    g (bool c, float["n", 4] x) => (float[a] y)
    {
      y = If (c) <
        then_branch = t () => (p) { p = Relu(x) },
        else_branch = e () => (q) { q = Neg(x) }
      >
    }
    """
    model = model_of(body)
    SymbolicValues(model).propagate(model.graph)
    branch = model.graph[0].attributes["then_branch"].as_graph()
    assert str(branch.outputs[0].shape) == "[n,4]"


def test_an_if_gives_what_both_of_its_branches_agree_on() -> None:
    body = """
    g (bool c, float["n", 4] x, float["m", 4] z) => (float[a] y)
    {
      y = If (c) <
        then_branch = t () => (p) { p = Relu(x) },
        else_branch = e () => (q) { q = Neg(z) }
      >
    }
    """
    model = model_of(body)
    model.graph.outputs[0].shape = None
    shape = SymbolicValues(model).shape(model.graph.outputs[0]) or (0, 0)
    assert shape[1] == 4
    assert shape[0] not in (symbol("n"), symbol("m"))


def test_forgetting_makes_room_for_new_knowledge() -> None:
    model = model_of('g (float["n"] x) => (y) { y = Relu(x) }')
    values = SymbolicValues(model)
    value = model.graph.inputs[0]
    before: tuple[Dimension, ...] | None = values.shape(value)
    value.shape = ir.Shape([5])
    assert values.shape(value) == before
    values.forget(value)
    assert values.shape(value) == (5,)


DECISIONS = [
    ("Equal", "m1", 0),
    ("GreaterOrEqual", "zero", 1),
    ("Less", "zero", 0),
    ("Greater", "zero", None),
    ("Equal", "zero", None),
]


@pytest.mark.parametrize(("operator", "other", "expected"), DECISIONS)
def test_comparisons_are_decided_only_where_every_size_agrees(
    operator: str, other: str, expected: int | None
) -> None:
    body = f"""
    g (float["n"] x) => (bool[1] y)
    <int64[1] zero = {{0}}, int64[1] m1 = {{-1}}>
    {{ s = Shape(x) y = {operator}(s, {other}) }}
    """
    model = model_of(body)
    content = SymbolicValues(model).of(model.graph.outputs[0])
    assert content == (None if expected is None else (expected,))


def test_integer_arithmetic_on_sizes_is_exact_or_left_alone() -> None:
    body = """
    g (float["n", 6] x) => (int64[2] q, int64[2] d, int64[2] p, float[a] cast)
    <int64[2] two = {2, 4}, int64[2] six = {6, 3}>
    {
      s = Shape(x)
      q = Div(s, two)
      e = Mul(s, six)
      d = Div(e, six)
      p = Mod(e, six)
      cast = Cast<to=1>(s)
    }
    """
    model = model_of(body)
    values = SymbolicValues(model)
    found = outputs(model)
    assert [str(dim) for dim in values.of(found["q"]) or ()] == ["n//2", "1"]  # pyright: ignore
    assert values.of(found["d"]) == (symbol("n"), 6)
    assert values.of(found["p"]) == (0, 0)
    assert values.of(found["cast"]) is None


def test_an_overflow_is_not_computed() -> None:
    body = """
    g (float[2] x) => (int32[1] y)
    <int32[1] big = {2147483647}>
    { y = Add(big, big) }
    """
    model = model_of(body)
    assert SymbolicValues(model).of(model.graph.outputs[0]) is None


def test_a_table_sliced_by_sizes_is_as_long_as_the_slice() -> None:
    body = """
    g (float["past", 4] k, float["seq", 4] x, float[1024] table) => (float[a] y)
    <int64[1] zero = {0}, int64[1] one = {1}>
    {
      joined = Concat<axis = 0>(k, x)
      s = Shape(joined)
      end = Slice(s, zero, one)
      t = Shape(k)
      start = Slice(t, zero, one)
      y = Slice(table, start, end)
    }
    """
    model = model_of(body)
    assert SymbolicValues(model).shape(model.graph.outputs[0]) == (symbol("seq"),)
    strict = SymbolicValues(model, slices_fit=False)
    assert strict.shape(model.graph.outputs[0]) != (symbol("seq"),)


def test_a_slice_of_a_broadcast_axis_is_not_believed_to_grow_with_its_bound() -> None:
    body = """
    g (float["seq", 4] x, float[1] k) => (float[a] y) <int64[1] zero = {0}, int64[1] one = {1}>
    {
      s = Shape(x)
      end = Slice(s, zero, one)
      y = Slice(k, zero, end)
    }
    """
    model = model_of(body)
    assert SymbolicValues(model).shape(model.graph.outputs[0]) != (symbol("seq"),)


def test_a_size_that_may_be_0_copies_another_one_in_a_reshape() -> None:
    body = """
    g (float["batch", "seq", 4] x) => (float[a, b, c] y, float[d, e, f] z)
    <int64[1] one = {1}, int64[2] rest = {-1, 1}, int64[1] zero = {0}, int64[2] last = {-1, 4}>
    {
      part = Slice(x, one, one, one)
      s = Shape(part)
      size = Gather(s, one)
      target = Concat <axis = 0> (size, rest)
      y = Reshape(part, target)
      batch = Gather(s, zero)
      same = Concat <axis = 0> (batch, last)
      z = Reshape(part, same)
    }
    """
    model = model_of(body)
    values = SymbolicValues(model)
    y, z = (shape_text(values, value).split(", ") for value in model.graph.outputs)
    assert y[2] == "1"
    assert not {"batch", "4*batch"} & {*y}  # where the part is empty, they are batch, 0 and 1
    assert (z[0], z[2]) == ("batch", "4")


def test_the_library_of_rules_does_not_touch_files(tmp_path: Path) -> None:
    tensor = ir.ExternalTensor(
        "missing.bin", 0, 8 * 10**6, ir.DataType.INT64, shape=ir.Shape([10**6]), name="w",
        base_dir=tmp_path,
    )  # fmt: skip
    weight = ir.Value(name="w", const_value=tensor, shape=tensor.shape)
    node = ir.node("Identity", [weight])
    graph = ir.Graph(
        [], [node.outputs[0]], nodes=[node], initializers=[weight], opset_imports={"": 17}
    )
    assert SymbolicValues(ir.Model(graph, ir_version=8)).shape(node.outputs[0]) == (10**6,)
