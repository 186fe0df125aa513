"""What is said of places where a pattern nearly is, and where nothing is said."""

from __future__ import annotations

import pytest

from optimizer.limits import Limits
from optimizer.model.symbolic import SymbolicValues
from optimizer.patterns import (
    Condition,
    Found,
    Number,
    Pattern,
    Value,
    either,
    maybe,
    node,
    repeated,
)
from optimizer.patterns.matcher import MOST_STEPS, Matcher
from optimizer.patterns.search import find
from optimizer.rules import Context, Declined
from optimizer.rules.context import FoldBudget
from tests.optimizer.graphs import opened

X = Value("x")


def searched(pattern: Pattern, body: str, *, inputs: str = "float[2,3] a, float[2,3] b") -> object:
    """What is found at the last node of a graph that ends with `z`, and the graph's constants."""
    text = f'<ir_version: 9, opset_import: ["" : 20]> g ({inputs}) => (float[2,3] z) '
    model = opened(f"{text}<float two = {{2.0}}, float three = {{3.0}}> {{ {body} }}")
    context = Context(
        opsets=model.ir.graph.opset_imports,
        limits=Limits(),
        symbolic=SymbolicValues(model.ir),
        budget=FoldBudget(0),
    )
    root = model.ir.graph.outputs[0].producer()
    assert root is not None
    return find(pattern, root, context)


def reason(found: object) -> str:
    assert isinstance(found, Declined), found
    return found.reason


EXP = node("Exp", node("Abs", X), core=True)
PATTERN = Pattern("Nothing", node("Sqrt", EXP * Number(2) + X))


def test_operands_may_be_swapped_where_the_catalogue_says_so() -> None:
    found = searched(PATTERN, "c = Abs(a) d = Exp(c) e = Mul(two, d) f = Add(a, e) z = Sqrt(f)")
    assert isinstance(found, Found)
    assert found.values["x"].name == "a"
    assert [each.op_type for each in found.nodes] == ["Sqrt", "Add", "Mul", "Exp", "Abs"]


def test_operands_of_a_division_stay_in_their_order() -> None:
    pattern = Pattern("Nothing", X / EXP)
    assert isinstance(searched(pattern, "c = Abs(a) d = Exp(c) z = Div(a, d)"), Found)
    assert searched(pattern, "c = Abs(a) d = Exp(c) z = Div(d, a)") is None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "c = Abs(a) d = Exp(c) e = Mul(d, three) f = Add(e, a) z = Sqrt(f)",
            "Mul needs the number 2: it is 3",
        ),
        (
            "c = Abs(a) d = Exp(c) e = Mul(d, two) f = Add(e, b) z = Sqrt(f)",
            "Add reads the same x again: it reads the input 'b'",
        ),
        (
            "c = Neg(a) d = Exp(c) e = Mul(d, two) f = Add(e, a) z = Sqrt(f)",
            "Exp reads Abs: it reads Neg 'n0'",
        ),
    ],
)
def test_a_near_miss_says_what_is_needed_and_what_is_there(body: str, told: str) -> None:
    assert reason(searched(PATTERN, body)) == told


def test_a_second_consumer_is_named() -> None:
    body = "c = Abs(a) d = Exp(c) e = Mul(d, two) f = Add(e, a) z = Sqrt(f) g = Neg(e)"
    assert reason(searched(PATTERN, body)) == "Mul output has another consumer: Neg 'n5'"


def test_nothing_is_said_without_the_core_or_where_more_than_one_operator_differs() -> None:
    assert searched(PATTERN, "d = Log(a) e = Mul(d, two) f = Add(e, a) z = Sqrt(f)") is None
    body = "c = Neg(a) d = Exp(c) e = Mul(d, b) f = Add(e, a) z = Sqrt(f)"
    assert searched(PATTERN, body) is None


def test_a_near_miss_is_stated_where_it_is_nearest() -> None:
    scaled = Pattern("Nothing", maybe(lambda inner: inner * Value("scale"), EXP + Number(2)))
    body = "c = Abs(a) d = Exp(c) e = Add(d, three) z = Mul(e, b)"
    assert reason(searched(scaled, body)) == "Add needs the number 2: it is 3"
    assert isinstance(searched(scaled, body.replace("three", "two")), Found)


def test_an_attribute_is_compared_with_its_default_too() -> None:
    leaky = node("LeakyRelu", X, settings={"alpha": 0.01}, core=True)
    pattern = Pattern("Nothing", node("Sqrt", leaky))
    assert isinstance(searched(pattern, "c = LeakyRelu(a) z = Sqrt(c)"), Found)
    told = reason(searched(pattern, "c = LeakyRelu <alpha = 0.5> (a) z = Sqrt(c)"))
    assert told == "LeakyRelu has alpha 0.01: it is 0.5"


def test_a_repeated_part_may_be_missing_and_may_not_be_there_too_often() -> None:
    pattern = Pattern("Nothing", node("Sqrt", repeated(lambda y: node("Neg", y), EXP, most=2)))
    for negations, fits in (("z = Sqrt(d)", True), ("e = Neg(d) z = Sqrt(e)", True)):
        assert isinstance(searched(pattern, f"c = Abs(a) d = Exp(c) {negations}"), Found) is fits
    often = "e = Neg(d) f = Neg(e) g = Neg(f) z = Sqrt(g)"
    assert searched(pattern, f"c = Abs(a) d = Exp(c) {often}") is None


def test_of_several_spellings_the_one_that_gets_farthest_speaks() -> None:
    pattern = Pattern("Nothing", node("Sqrt", either(EXP - Number(3), EXP - X)))
    told = reason(searched(pattern, "c = Abs(a) d = Exp(c) e = Sub(d, two) z = Sqrt(e)"))
    assert told == "Sub needs the number 3: it is 2"


def test_a_condition_gives_its_own_words() -> None:
    odd = Condition(
        "The rank is 3", lambda found, context: f"it is {context.rank(found.values['x'])}"
    )
    pattern = Pattern("Nothing", EXP, (odd,))
    assert reason(searched(pattern, "c = Abs(a) z = Exp(c)")) == "The rank is 3: it is 2"


def test_a_part_of_a_pattern_that_stands_twice_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    term = EXP
    for _ in range(12):
        term = term + term
    nodes = ["c = Abs(a)", "d0 = Exp(c)", *(f"d{i + 1} = Add(d{i}, d{i})" for i in range(12))]
    looked: list[int] = []
    original = Matcher.look

    def look(self: Matcher, *arguments: object) -> bool:
        looked.append(self.steps)
        return original(self, *arguments)  # pyright: ignore[reportArgumentType, reportCallIssue] - handed on

    monkeypatch.setattr(Matcher, "look", look)
    searched(Pattern("Nothing", term), " ".join(nodes).replace("d12", "z"))
    assert 12 < max(looked) < 40 < MOST_STEPS
