"""Costs computed by hand beside costs computed from the graph."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest

from optimizer.cost import Cost, Sizes, node_cost
from optimizer.graph_cost import graph_cost
from optimizer.model.symbolic import SymbolicValues


def model_of(body: str, *, opset: int = 17) -> ir.Model:
    text = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1, "my" : 1]>{body}'
    model = ir.from_proto(onnx.parser.parse_model(text))
    SymbolicValues(model).propagate(model.graph)
    return model


INPUTS = """float["batch", "seq", 8] x, float[2, 3, 10, 10] image, float[2, 8] flat, float[5] v,
    float[4, 3, 3, 3] kernel, float[4] bias, float[8, 6] matrix, float[3, 5, 2, 2] spread,
    float[7, 2, 4] steps, float[1, 24, 4] w, float[1, 24, 6] r"""

FLOPS = [
    # 2 * (2*4*8*8) outputs * (3*3*3) and one addition each for the bias
    ("Conv(image, kernel, bias)", 2 * 512 * 27 + 512),
    ("Conv<group=1>(image, kernel)", 2 * 512 * 27),
    # every input element meets 5*2*2 weights
    ("ConvTranspose(image, spread)", 2 * 600 * 20),
    ("MatMul(x, matrix)", 2 * (1 * 128 * 6) * 8),
    ("Gemm(flat, matrix)", 2 * 12 * 8),
    ("Relu(flat)", 16),
    ("Softmax(flat)", 5 * 16),
    ("Add(flat, flat)", 16),
    ("MaxPool<kernel_shape=[2, 2]>(image)", 2 * 3 * 9 * 9 * 4),
    ("GlobalAveragePool(image)", 600),
    ("ReduceMean<axes=[1]>(flat)", 16),
    ("Transpose(flat)", 0),
    ('Einsum<equation="bi,ij->bj">(flat, matrix)', 2 * 2 * 8 * 6),
    ("LSTM<hidden_size=6>(steps, w, r)", 2 * 7 * 2 * 24 * (4 + 6)),
]


@pytest.mark.parametrize(("node", "flops"), FLOPS)
def test_flops_equal_what_a_hand_computes(node: str, flops: int) -> None:
    model = model_of(f"g ({INPUTS}) => (y) {{ y = {node} }}")
    cost = node_cost(model.graph[0])
    assert cost is not None
    assert cost.flops == flops


def test_a_fused_gelu_costs_the_arithmetic_of_its_parts() -> None:
    parts = """
    g (float[4, 8] x) => (y)
    <float root = {1.41}, float one = {1.0}, float half = {0.5}>
    { a = Div(x, root) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half) }
    """
    fused = "g (float[4, 8] x) => (y) { y = com.microsoft.Gelu(x) }"
    split, whole = graph_cost(model_of(parts).graph), graph_cost(model_of(fused).graph)
    assert split.flops == whole.flops == 5 * 32
    assert split.bytes_written == 5 * whole.bytes_written


def test_bytes_are_inputs_outputs_and_the_constant_part_of_the_inputs() -> None:
    body = "g (float[2, 8] x) => (y) <float[8, 3] w = {" + "1, " * 23 + "1}> { y = MatMul(x, w) }"
    cost = node_cost(model_of(body).graph[0])
    assert cost == Cost(
        flops=2 * 6 * 8, bytes_read=4 * (16 + 24), bytes_written=4 * 6, weight_bytes=4 * 24
    )


def test_an_input_used_twice_is_read_once() -> None:
    cost = node_cost(model_of("g (float[8] x) => (y) { y = Mul(x, x) }").graph[0])
    assert cost is not None
    assert cost.bytes_read == 32


def test_views_cost_nothing_and_picking_reads_only_what_it_takes() -> None:
    body = """
    g (float[1000, 4] x) => (y)
    <int64[2] rows = {3, 5}, int64[1] shape = {8}>
    { h = Gather(x, rows) y = Reshape(h, shape) }
    """
    gather, reshape = (node_cost(node) for node in model_of(body).graph)
    assert gather is not None
    assert (gather.flops, gather.bytes_read, gather.bytes_written) == (0, 32, 32)
    assert reshape == Cost()


def test_free_dimensions_take_stated_sizes_that_can_be_given() -> None:
    model = model_of('g (float["batch", "seq", 4] x) => (y) { y = Relu(x) }')
    cost = graph_cost(model.graph)
    assert cost.flops == 1 * 128 * 4
    assert cost.assumed == {"batch": 1, "seq": 128}
    assert graph_cost(model.graph, {"batch": 2, "seq": 10}).flops == 2 * 10 * 4


def test_expressions_follow_the_sizes_of_their_names() -> None:
    body = """
    g (float["past", 4] k, float["seq", 4] x) => (y)
    { h = Concat<axis=0>(k, x) y = Relu(h) }
    """
    model = model_of(body)
    cost = node_cost(model.graph[1], Sizes({"past": 3, "seq": 2}))
    assert cost is not None
    assert cost.flops == 5 * 4


def test_what_is_unknown_is_counted_and_not_taken_as_nothing() -> None:
    model = model_of("g (float[4] x) => (y, z) { y = my.Op(x) z = Relu(x) }")
    cost = graph_cost(model.graph)
    assert (cost.nodes, cost.unknown_nodes, cost.flops) == (2, 1, 4)


def test_constants_are_weights_and_not_nodes() -> None:
    body = """
    g (float[4] x) => (y)
    <float[4] w = {1, 2, 3, 4}>
    { c = Constant<value = float[4] {1, 2, 3, 4}>() h = Add(x, w) y = Mul(h, c) }
    """
    cost = graph_cost(model_of(body).graph)
    assert cost.nodes == 2
    assert cost.weight_bytes == 32


def test_peak_memory_is_what_is_alive_at_once() -> None:
    body = """
    g (float[100] x) => (y)
    {
      a = Relu(x)
      b = Neg(a)
      c = Abs(b)
      y = Add(a, c)
    }
    """
    # a lives until the end; b and c overlap at Abs, c and y at Add
    assert graph_cost(model_of(body).graph).peak_activation_bytes == 3 * 400


def test_a_view_needs_no_memory_and_keeps_what_it_looks_at_alive() -> None:
    body = """
    g (float[100] x) => (y)
    <int64[2] shape = {10, 10}, int64[1] back = {100}>
    {
      a = Relu(x)
      v = Reshape(a, shape)
      b = Neg(x)
      w = Reshape(v, back)
      y = Add(b, w)
    }
    """
    assert graph_cost(model_of(body).graph).peak_activation_bytes == 3 * 400


def test_a_body_counts_once_and_its_memory_comes_on_top() -> None:
    body = """
    g (bool c, float[100] x) => (y)
    {
      a = Relu(x)
      y = If (c) <
        then_branch = t () => (float[100] p) { p = Neg(a) },
        else_branch = e () => (float[100] q) { q = Abs(a) }
      >
    }
    """
    cost = graph_cost(model_of(body).graph)
    assert cost.nodes == 4
    assert cost.flops == 300
    assert cost.peak_activation_bytes >= 2 * 400


def test_a_total_length_is_what_is_past_and_what_is_new() -> None:
    body = """
    g (float[batch, seq, 4] x, float[batch, past_seq, 4] cache, float[batch, total_seq] mask)
    => (y) { y = Relu(x) }
    """
    graph = model_of(body).graph
    sizes = Sizes.of(graph)
    assert [sizes.shape(value) for value in graph.inputs] == [(1, 128, 4), (1, 128, 4), (1, 256)]
    sizes = Sizes.of(graph, {"seq": 1, "past_seq": 99})
    assert sizes.shape(graph.inputs[2]) == (1, 100)
    assert Sizes.of(graph, {"total_seq": 7}).shape(graph.inputs[2]) == (1, 7)
