"""ONNX Runtime's order of nodes, on graphs where it can be told by hand."""

from __future__ import annotations

from optimizer.model.graph import node_id
from optimizer.runtime.graph import runtime_nodes
from optimizer.runtime.order import ExecutionOrder, in_order, runtime_order
from tests.optimizer.graphs import opened

HEADER = '<ir_version: 9, opset_import: ["" : 18]>\n'


def order_of(body: str, order: ExecutionOrder = "default") -> str:
    """The names of the nodes as they run."""
    graph = opened(HEADER + body).ir.graph
    names = {node_id(node): node.name or "" for node in graph}
    return " ".join(names[identity] for identity in runtime_order(graph, order))


BRANCHES = """g (float[4,4] x) => (float[4,4] y) {
[a] a = Relu(x)
[b] b = Tanh(x)
[c] c = Exp(a)
[d] d = Exp(b)
[e] y = Add(c, d)
}"""


def test_of_two_branches_the_one_that_ends_later_in_the_file_runs_first_and_in_one_go() -> None:
    assert order_of(BRANCHES) == "b d a c e"


def test_by_priority_the_order_is_the_files() -> None:
    assert order_of(BRANCHES, "priority") == "a b c d e"


def test_what_nobody_reads_is_where_the_walk_begins_the_last_in_the_file_first() -> None:
    body = "g (float[4] x) => (float[4] y, float[4] z) {\n[a] y = Relu(x)\n[b] z = Tanh(x)\n}"
    assert order_of(body) == "b a"
    assert order_of(body, "priority") == "a b"


def test_by_priority_sizes_are_read_as_soon_as_they_are_there() -> None:
    body = """g (float[4] x) => (float[4] y, int64[1] n, int64 m) {
[a] a = Relu(x)
[b] y = Tanh(a)
[c] n = Shape(a)
[d] m = Size(x)
}"""
    assert order_of(body, "priority") == "d a c b"


def test_constants_do_not_run_but_what_is_computed_from_them_does() -> None:
    body = """g (float[4] x) => (float[4] y) {
[k] k = Constant<value = float {2.0}>()
[l] l = Exp(k)
[a] y = Mul(x, l)
}"""
    assert order_of(body) == "l a"


def test_a_node_read_by_a_body_runs_before_the_owner_of_the_body() -> None:
    body = """g (float[4] x, bool t) => (float[4] y) {
[a] a = Relu(x)
[b] y = If(t) <
    then_branch = yes () => (float[4] p) { p = Exp(a) },
    else_branch = no () => (float[4] q) { q = Neg(a) }
>
[c] c = Tanh(x)
}"""
    assert order_of(body) == "c a b"


def test_a_joined_cast_is_named_before_its_reader_and_does_not_run() -> None:
    body = """g (float[4] x) => (float[4] y) {
[a] a = Relu(x)
[b] b = Cast<to = 11>(a)
[c] c = Cast<to = 1>(b)
[d] y = Exp(c)
}"""
    assert order_of(body) == "a b c d"
    nodes = in_order(runtime_nodes(opened(HEADER + body).ir.graph))
    assert [one.node.name for one in nodes] == ["a", "d"]


def test_cast_like_is_a_cast_that_is_numbered_last() -> None:
    body = """g (float[4] x, int32[4] k) => (int32[4] y, int32[4] z) {
[a] y = CastLike(x, k)
[b] z = Cast<to = 6>(x)
}"""
    nodes = runtime_nodes(opened(HEADER + body).ir.graph)
    assert [one.node.name for one in nodes] == ["b", "a"]
    assert [value.name for value in nodes[1].reads()] == ["x"]
