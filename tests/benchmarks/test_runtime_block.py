"""The model of ONNX Runtime's memory, rule by rule, on graphs where it can be told by hand."""

from __future__ import annotations

import pytest

from benchmarks.runtime_block.model import runtime_lifetimes
from optimizer.errors import PlanError
from optimizer.memory.arena import Arena
from optimizer.memory.registry import make_plan
from tests.optimizer.graphs import opened

HEADER = '<ir_version: 9, opset_import: ["" : 18]>\n'
HEAD = "g (float[8,8] x) => (float[8,8] y) {\n"
BYTES = 256  # of float[8,8], the runtime's own step
T = "Transpose<perm = [1, 0]>"


def modelled(body: str, *, reuse: bool = True, order: tuple[str, ...] | None = None) -> Arena:
    return runtime_lifetimes(opened(HEADER + body).ir.graph, reuse=reuse, order=order)


def lives(arena: Arena) -> dict[str, tuple[int, int]]:
    """First and last-but-one step of each piece of the block."""
    return {one.name: (one.start, one.end) for one in arena.of("activations")}


def block(arena: Arena) -> int:
    return make_plan("runtime-pattern", arena.buffers()).peak_bytes


def test_inputs_and_outputs_are_the_callers() -> None:
    arena = modelled(f"{HEAD}[a] a = {T}(x)\n[b] y = {T}(a)\n}}")
    assert lives(arena) == {"a": (0, 2)}
    assert {one.name for one in arena.of("inputs and outputs")} == {"x", "y"}
    assert block(arena) == BYTES


def test_an_alias_is_its_inputs_memory_and_keeps_it() -> None:
    body = f"""g (float[8,8] x) => (float[8,8] y) {{
[a] a = {T}(x)
[b] b = Flatten(a)
[c] c = {T}(a)
[d] d = Add(b, c)
[e] y = {T}(d)
}}"""
    assert lives(modelled(body, reuse=False)) == {"a": (0, 4), "c": (1, 4), "d": (3, 5)}


def test_relu_writes_over_what_nobody_else_needs_and_only_over_that() -> None:
    alone = f"{HEAD}[a] a = {T}(x)\n[b] b = Relu(a)\n[c] y = {T}(b)\n}}"
    assert lives(modelled(alone, reuse=False)) == {"a": (0, 3)}
    shared = f"{HEAD}[a] a = {T}(x)\n[b] b = Relu(a)\n[c] y = Add(a, b)\n}}"
    assert lives(modelled(shared, reuse=False)) == {"a": (0, 3), "b": (1, 3)}


def test_nothing_is_written_over_inputs_weights_or_into_outputs() -> None:
    assert lives(modelled(f"{HEAD}[a] a = Relu(x)\n[b] y = Relu(a)\n}}")) == {"a": (0, 2)}


def test_add_writes_over_nothing() -> None:
    body = f"{HEAD}[a] a = {T}(x)\n[b] b = Add(a, x)\n[c] y = {T}(b)\n}}"
    assert lives(modelled(body, reuse=False)) == {"a": (0, 2), "b": (1, 3)}


CHAIN = f"{HEAD}[a] a = {T}(x)\n[b] b = {T}(a)\n[c] c = {T}(b)\n[d] y = {T}(c)\n}}"


def test_with_reuse_a_dead_buffer_of_the_same_shape_is_taken_over_and_held_in_between() -> None:
    assert lives(modelled(CHAIN)) == {"a": (0, 4), "b": (1, 3)}
    assert lives(modelled(CHAIN, reuse=False)) == {"a": (0, 2), "b": (1, 3), "c": (2, 4)}
    assert block(modelled(CHAIN)) == block(modelled(CHAIN, reuse=False)) == 2 * BYTES


def test_a_dead_buffer_of_another_shape_is_not_taken_over_even_if_it_is_as_large() -> None:
    body = f"""g (float[8,8] x) => (float[4,16] y) {{
[k] k = Constant<value = int64[2] {{4, 16}}>()
[a] a = {T}(x)
[b] b = {T}(a)
[r] r = Reshape(b, k)
[c] c = Exp(r)
[d] y = Exp(c)
}}"""
    assert lives(modelled(body)) == {"a": (0, 2), "b": (1, 4), "c": (3, 5)}


def test_what_nobody_reads_stays_and_takes_over_nothing() -> None:
    body = f"{HEAD}[a] a = {T}(x)\n[b] b = {T}(x)\n[c] y = {T}(x)\n}}"
    arena = modelled(body)
    assert arena.nodes == ("n2", "n1", "n0")
    assert lives(arena) == {"b": (1, 3), "a": (2, 3)}


def test_free_dimensions_of_the_same_name_are_the_same_size_others_never() -> None:
    body = """g (float[n,m] x) => (float[n,m] y) {
[a] a = Neg(x)
[b] b = Neg(a)
[c] c = Neg(b)
[d] y = Neg(c)
}"""
    graph = opened(HEADER + body).ir.graph
    arena = runtime_lifetimes(graph, sizes={"n": 2, "m": 3})
    assert lives(arena) == {"a": (0, 4), "b": (1, 3)}
    assert {one.size_bytes for one in arena.lifetimes} == {24}
    assert arena.buffers()[0].size_bytes == BYTES


def test_a_free_dimension_without_a_size_is_named() -> None:
    graph = opened(HEADER + "g (float[n] x) => (float[n] y) {\na = Neg(x)\ny = Neg(a)\n}").ir.graph
    arena = runtime_lifetimes(graph)
    assert {one.name for one in arena.unknown} == {"x", "a", "y"}
    with pytest.raises(PlanError, match="free dimension 'n'"):
        arena.buffers()


def test_text_and_sequences_are_not_in_the_block() -> None:
    body = """g (float[8,8] x) => (float[4,8] y) {
[s] s = SplitToSequence(x)
[k] k = Constant<value = int64 {1}>()
[a] a = SequenceAt(s, k)
[b] y = Exp(a)
}"""
    graph = opened(HEADER + body).ir.graph
    made = graph[2].outputs[0]
    made.type, made.shape = graph.inputs[0].type, graph.outputs[0].shape
    assert set(lives(runtime_lifetimes(graph))) == {"a"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f"{HEAD}[a] a = HardSwish(x)\n[b] y = {T}(a)\n}}", "replaces HardSwish 'a' by several"),
        ("g (float16[8] x) => (float16[8] y) {\n[a] y = Exp(x)\n}", "casts around Exp 'a'"),
        (
            "g (uint8[8] x, float s) => (float[8] y) {\n"
            "[a] a = DequantizeLinear(x, s)\n[b] y = Add(a, a)\n}",
            "every reader of DequantizeLinear 'a'",
        ),
    ],
    ids=["no kernel", "float16", "shared dequantization"],
)
def test_where_the_runtime_runs_other_nodes_it_is_said(body: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        modelled(body)


def test_another_order_is_planned_if_it_is_complete() -> None:
    assert modelled(CHAIN, order=("n0", "n1", "n2", "n3")).nodes == ("n0", "n1", "n2", "n3")
    with pytest.raises(PlanError, match="names 'n9'"):
        modelled(CHAIN, order=("n9",))
    with pytest.raises(PlanError, match="3 of the 4 nodes"):
        modelled(CHAIN, order=("n0", "n1", "n3"))
