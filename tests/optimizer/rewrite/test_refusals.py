"""What the Rewriter refuses, whatever a rule proposes, and the words in which it says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.rules.replacement import NewInitializer, NewNode, Replacement
from tests.optimizer.rewrite.applying import Bench, bench

IF = """y = If (c) <
    then_branch = yes () => (float[N] t) { a = Neg(x)  t = Identity(a) },
    else_branch = no () => (float[N] e) { e = Identity(m) }
>"""


def _line() -> Bench:
    return bench("(float[N] x) => (float[N] y)", "a = Neg(x)", "b = Abs(a)", "y = Relu(b)")


def _replaced(one: Bench, old: str, new: str) -> Replacement:
    return Replacement([one.node(old)], {one.value(old): one.value(new)}, "")


def _by_new_node(one: Bench, old: str, source: str) -> Replacement:
    new = NewNode("Abs", [one.value(source)])
    return Replacement([one.node(old)], {one.value(old): new.output()}, "", nodes=[new])


def test_an_input_that_is_computed_later() -> None:
    one = _line()
    assert one.refusal("a", _by_new_node(one, "a", "b")) == (
        "an input of the replacement is computed later"
    )


def test_a_value_that_is_computed_later() -> None:
    one = _line()
    assert "later" in one.refusal("a", _replaced(one, "a", "b"))


def test_a_new_node_that_stands_before_its_input_or_behind_its_reader() -> None:
    one = _line()
    early = _by_new_node(one, "y", "b")
    early = replace(early, stands={early.nodes[0]: one.node("b")})
    assert one.refusal("y", early) == "an input of the replacement is computed later"
    late = _by_new_node(one, "a", "x")
    late = replace(late, stands={late.nodes[0]: one.node("y")})
    assert one.refusal("a", late) == "a consumer stands before the replacement"


def test_new_nodes_that_stand_in_another_order_than_they_are_listed() -> None:
    one = _line()
    first = NewNode("Abs", [one.value("x")])
    second = NewNode("Neg", [first.output()])
    proposal = Replacement(
        [one.node("y")], {one.value("y"): second.output()}, "", nodes=[first, second],
        stands={second: one.node("a")},
    )  # fmt: skip
    assert one.refusal("y", proposal) == "an input of the replacement is computed later"


def test_an_input_from_inside_a_body() -> None:
    one = bench("(bool c, float[N] x) => (float[N] z)", "m = Abs(x)", IF, "z = Neg(y)")
    assert one.refusal("z", _by_new_node(one, "z", "a")) == (
        "an input of the replacement is not visible here"
    )


def test_a_pattern_that_reaches_into_a_body() -> None:
    one = bench("(bool c, float[N] x) => (float[N] z)", "m = Abs(x)", IF, "z = Neg(y)")
    both = Replacement([one.node("m"), one.node("e")], {one.value("e"): one.value("x")}, "")
    assert one.refusal("e", both) == "the pattern crosses the border of a body graph"


def test_a_body_output_that_would_be_a_value_from_outside() -> None:
    one = bench("(bool c, float[N] x) => (float[N] z)", "m = Abs(x)", IF, "z = Neg(y)")
    assert one.refusal("e", _replaced(one, "e", "m")) == (
        "an output of a body would become a value from outside"
    )


def test_a_consumer_in_front_of_the_replacement() -> None:
    one = bench(
        "(float[N] x) => (float[N] y, float[N] z)", "a = Neg(x)", "y = Abs(a)", "z = Relu(a)"
    )
    new = NewNode("Sign", [one.value("x")])
    matched = [one.node("a"), one.node("z")]
    proposal = Replacement(matched, {one.value("a"): new.output()}, "", nodes=[new])
    assert one.refusal("z", proposal) == "a consumer stands before the replacement"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("h", "the replacement is FLOAT16, the value is FLOAT"),
        ("r", "the replacement has rank 2, the value rank 1"),
        ("s", "the replacement has shape [4], the value [3]"),
    ],
)
def test_a_value_of_another_type_or_size(new: str, reason: str) -> None:
    one = bench(
        "(float[3] x, float16[3] h, float[1,3] r, float[4] s) => (float[3] y)",
        *("a = Neg(x)", "y = Relu(a)"),
    )
    assert one.refusal("a", _replaced(one, "a", new)) == reason


def test_a_constant_of_another_type() -> None:
    one = bench("(float[3] x) => (float[3] y)", "a = Neg(x)", "y = Relu(a)")
    constant = NewInitializer(ir.Tensor(np.zeros(3, np.int64)), "zeros")
    proposal = Replacement([one.node("a")], {one.value("a"): constant}, "")
    assert one.refusal("a", proposal) == "the replacement is INT64, the value is FLOAT"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("x", "a graph output would become a graph input"),
        ("y", "two graph outputs would become the same value"),
        ("w", "a graph output would become an initializer"),
    ],
)
def test_a_graph_output_that_would_lose_its_name(new: str, reason: str) -> None:
    one = bench(
        "(float[3] x) => (float[3] y, float[3] z)",
        *("y = Neg(x)", "z = Identity(y)"),
        weights="float[3] w = {1, 2, 3}",
    )
    assert one.refusal("z", _replaced(one, "z", new)) == reason


def test_two_graph_outputs_at_once_for_one_value() -> None:
    one = bench(
        "(float[3] x) => (float[3] y, float[3] z)", "a = Neg(x)", "y = Abs(a)", "z = Abs(a)"
    )
    matched = [one.node("y"), one.node("z")]
    values = {one.value("y"): one.value("a"), one.value("z"): one.value("a")}
    assert one.refusal("z", Replacement(matched, values, "")) == (
        "two graph outputs would become the same value"
    )


def test_a_node_that_is_no_longer_there() -> None:
    one = _line()
    gone = one.node("b")
    proposal = _replaced(one, "b", "a")
    one.apply("b", proposal)
    with pytest.raises(Exception, match="no longer in the graph"):
        one.rewriter.apply(gone, proposal)


def test_a_part_in_a_body_that_is_refused_takes_the_whole_step_with_it() -> None:
    one = bench("(bool c, float[N] x) => (float[N] z)", "m = Abs(x)", IF, "z = Neg(y)")
    good = _by_new_node(one, "a", "x")
    fine = Replacement([], {}, "", parts={one.node("a"): good})
    wrong = _by_new_node(one, "m", "y")
    both = Replacement([], {}, "", parts={one.node("a"): good, one.node("m"): wrong})
    assert one.refusal("z", both) == "an input of the replacement is computed later"
    assert [node.op_type for node in one.apply("z", fine).added] == ["Abs"]


def test_a_value_that_only_leaving_nodes_read_before_the_replacement_is_replaced() -> None:
    one = bench(
        "(float[N] x) => (float[N] b, float[N] y)", "a = Neg(x)", "b = Abs(a)", "y = Relu(b)"
    )
    new = NewNode("Split", [one.value("x")], outputs=2)
    nodes = [one.node("a"), one.node("b"), one.node("y")]
    values = {one.value("b"): new.output(0), one.value("y"): new.output(1)}
    applied = one.apply("y", Replacement(nodes, values, "", [new]))
    assert len(applied.removed) == 3
