"""Inlining the model's own functions gives a model that computes the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from optimizer.errors import Cycle, InvalidGraph, LimitError
from optimizer.limits import Limits
from optimizer.model.graph import Model, walk_nodes
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from tests.optimizer.running import run

HEAD = '<ir_version: 10, opset_import: ["" : 17, "my" : 1]> g '
LIB = '<opset_import: ["" : 17, "my" : 1], domain: "my"> '

SOURCES = {
    "two calls of one function": (
        "(float[2] x) => (float[2] y) { t = my.F(x)  y = my.F(t) }",
        LIB + "F (a) => (b) { t = Add(a, a)  b = Relu(t) }",
    ),
    "a function that calls another": (
        "(float[2] x) => (float[2] y) { y = my.F(x) }",
        LIB + "F (a) => (b) { t = my.G(a)  b = my.G(t) } " + LIB + "G (a) => (b) { b = Exp(a) }",
    ),
    "attributes that are passed on, defaulted and left out": (
        "(float[2] x) => (float[2] y)"
        "{ p = my.F<alpha = 0.5>(x)  q = my.F(p)  y = my.G<alpha = 0.25>(q) }",
        LIB + "F <alpha: float = 0.125> (a) => (b) { b = LeakyRelu<alpha: float = @alpha>(a) } "
        + LIB + "G <alpha> (a) => (b) { t = my.F<alpha: float = @alpha>(a)"
        " b = Elu<alpha: float = @alpha>(t) }",
    ),
    "an optional input that is left out": (
        "(float[2] x, float m) => (float[2] y) { p = my.F(x, , m)  q = my.F(p)  y = Abs(q) }",
        LIB + "F (a, low, high) => (b) { b = Clip(a, low, high) }",
    ),
    "bodies that use the function's values and its attributes": (
        "(float[2] x, bool c) => (float[2] y) { p = my.F<alpha = 2.0>(x, c)  y = my.F(p, c) }",
        LIB + "F <alpha: float = 0.5> (a, c) => (b) { t = Neg(a)  b = If(c) <"
        "then_branch = one () => (float[n] p) { p = Elu<alpha: float = @alpha>(t) },"
        "else_branch = two () => (float[n] p) { q = my.G(t)  p = Add(q, a) }> } "
        + LIB + "G (a) => (b) { b = Exp(a) }",
    ),
    "a call inside a body": (
        "(float[2] x, bool c) => (float[2] y) { t = Neg(x)  y = If(c) <"
        "then_branch = one () => (float[2] p) { p = my.F(t) },"
        "else_branch = two () => (float[2] q) { t2 = my.F(x)  q = my.F(t2) }> }",
        LIB + "F (t) => (x) { p = Abs(t)  x = Sqrt(p) }",
    ),
    "names that the caller uses for other things": (
        "(float[2] x) => (float[2] y) { t = Neg(x)  b = Exp(t)  a = my.F(b)  y = Add(a, t) }",
        LIB + "F (x) => (y) { t = Abs(x)  a = Sqrt(t)  y = Add(a, t) }",
    ),
}  # fmt: skip


def source(text: str, functions: str) -> onnx.ModelProto:
    return parser.parse_model(HEAD + text + functions)


def load(proto: onnx.ModelProto, limits: Limits | None = None) -> Model:
    data = proto.SerializeToString()
    return load_bytes(data, name="model.onnx", limits=limits or Limits())


@pytest.mark.parametrize("what", SOURCES)
def test_the_inlined_model_computes_what_the_functions_did(what: str) -> None:
    proto = source(*SOURCES[what])
    model = load(proto)
    assert not model.ir.functions
    assert all(node.domain == "" for node in walk_nodes(model.ir.graph))
    inlined = onnx.ModelProto.FromString(to_bytes(model.ir))
    names = {info.name for info in proto.graph.input}
    for condition in (True, False):
        feeds = {
            "x": np.array([0.5, -1.5], np.float32),
            "m": np.array(0.25, np.float32),
            "c": np.array(condition),
        }
        given = {name: feeds[name] for name in names}
        (expected,) = run(proto, given)
        (actual,) = run(inlined, given)
        np.testing.assert_array_equal(actual, expected)


def test_an_input_that_is_returned_and_a_value_that_is_returned_twice_come_out() -> None:
    # ONNX Runtime itself refuses such a function, so the expected values are worked out here.
    model = load(
        source(
            "(float[2] x) => (float[2] y) { p, q, r = my.F(x)  s = Sub(p, q)  y = Mul(s, r) }",
            LIB + "F (a) => (a, b, b) { b = Neg(a) }",
        )
    )
    x = np.array([0.5, -1.5], np.float32)
    (actual,) = run(onnx.ModelProto.FromString(to_bytes(model.ir)), {"x": x})
    np.testing.assert_array_equal(actual, (x - -x) * -x)


def test_inlined_names_say_which_call_they_come_from() -> None:
    model = load(
        source(
            "(float[2] x) => (float[2] y) { [first] t = my.F(x)  [second] y = my.F(t) }",
            LIB + "F (a) => (b) { [step] t = Add(a, a)  b = Relu(t) }",
        )
    )
    names = [node.name for node in model.ir.graph]
    assert names == ["first/step", "first/Relu", "second/step", "second/Relu"]


def test_a_function_of_another_opset_is_inlined_if_its_operators_did_not_change() -> None:
    older = '<opset_import: ["" : 16], domain: "my"> F (a) => (b) { b = Relu(a) }'
    model = load(source("(float[2] x) => (float[2] y) { y = my.F(x) }", older))
    assert not model.ir.functions


def test_a_function_whose_operators_changed_is_left_and_the_model_only_viewed() -> None:
    older = '<opset_import: ["" : 12], domain: "my"> F (a) => (b) { b = ReduceSum<axes = [0]>(a) }'
    model = load(source("(float[2] x) => (float[1] y) { y = my.F(x) }", older))
    assert len(model.ir.functions) == 1
    assert "opset 12" in model.statuses.optimizable.reason


def test_functions_that_call_each_other_in_a_circle_are_refused() -> None:
    circle = LIB + "F (a) => (b) { b = my.G(a) } " + LIB + "G (a) => (b) { b = my.F(a) }"
    with pytest.raises(Cycle, match="'F' → 'G' → 'F'"):
        load(source("(float[2] x) => (float[2] y) { y = my.F(x) }", circle))


def test_an_attribute_that_a_call_does_not_give_is_missed_after_inlining() -> None:
    needy = LIB + "F <axis> (a) => (b) { b = Concat<axis: int = @axis>(a, a) }"
    with pytest.raises(InvalidGraph, match="'axis' of Concat is missing"):
        load(source("(float[2] x) => (float[4] y) { y = my.F(x) }", needy))


def doubling(levels: int) -> onnx.ModelProto:
    """F0 calls F1 twice, and so on: `2 ** levels` nodes once inlined."""
    functions = [
        LIB + f"F{level} (a) => (b) {{ t = my.F{level + 1}(a)  b = my.F{level + 1}(t) }} "
        for level in range(levels)
    ]
    last = LIB + f"F{levels} (a) => (b) {{ b = Relu(a) }}"
    return source("(float[2] x) => (float[2] y) { y = my.F0(x) }", "".join([*functions, last]))


def test_functions_that_grow_beyond_the_limit_are_refused_before_inlining() -> None:
    assert len(load(doubling(5)).ir.graph) == 32
    with pytest.raises(LimitError, match="more than 100 nodes"):
        load(doubling(7), Limits(expanded_nodes=100))


def test_a_long_chain_of_functions_needs_no_recursion() -> None:
    functions = [
        LIB + f"F{level} (a) => (b) {{ b = my.F{level + 1}(a) }} " for level in range(3000)
    ]
    last = LIB + "F3000 (a) => (b) { b = Relu(a) }"
    text = "(float[2] x) => (float[2] y) { y = my.F0(x) }"
    model = load(source(text, "".join([*functions, last])))
    assert [node.op_type for node in model.ir.graph] == ["Relu"]
