"""The algebra of sizes: canonical forms, checked against plain arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.dimension import (
    Dimension,
    Expression,
    TooComplex,
    at_least,
    exact_divide,
    floor_divide,
    symbol,
)
from optimizer.dimension_text import parse

NAMES = ("batch", "seq", "h")
SIZES = st.fixed_dictionaries({name: st.integers(0, 50) for name in NAMES})


def value_of(dim: Dimension, sizes: dict[str, int]) -> int:
    result = dim.evaluate(sizes) if isinstance(dim, Expression) else dim
    assert isinstance(result, int)
    return result


@st.composite
def dimensions(draw: st.DrawFn) -> Dimension:
    leaf = st.one_of(st.integers(-5, 9), st.sampled_from([symbol(name) for name in NAMES]))
    dim: Dimension = draw(leaf)
    for _ in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(["+", "-", "*", "//"])):
            case "+":
                dim = dim + draw(leaf)
            case "-":
                dim = dim - draw(leaf)
            case "*":
                dim = dim * draw(leaf)
            case _:
                dim = floor_divide(dim, draw(st.integers(1, 6)))
    return dim


@given(dimensions(), dimensions(), SIZES)
def test_arithmetic_on_forms_is_arithmetic_on_numbers(
    left: Dimension, right: Dimension, sizes: dict[str, int]
) -> None:
    a, b = value_of(left, sizes), value_of(right, sizes)
    assert value_of(left + right, sizes) == a + b
    assert value_of(left - right, sizes) == a - b
    assert value_of(left * right, sizes) == a * b
    assert value_of(floor_divide(left, 3), sizes) == a // 3


@given(dimensions(), dimensions(), SIZES)
def test_a_division_called_exact_is_exact(
    left: Dimension, right: Dimension, sizes: dict[str, int]
) -> None:
    for top in (left, left * right):
        quotient = exact_divide(top, right)
        if quotient is not None and value_of(right, sizes):
            assert value_of(quotient, sizes) * value_of(right, sizes) == value_of(top, sizes)


@given(dimensions(), dimensions(), SIZES)
def test_a_decided_comparison_holds_for_every_size(
    left: Dimension, right: Dimension, sizes: dict[str, int]
) -> None:
    decided = at_least(left, right)
    if decided is not None:
        assert decided == (value_of(left, sizes) >= value_of(right, sizes))


@given(dimensions())
def test_text_reads_back_as_the_same_form(dim: Dimension) -> None:
    if isinstance(dim, Expression):
        assert parse(str(dim)) == dim


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("seq + past", "past + seq"),
        ("floor(h/2 - 1/2) + 1", "(h + 1)//2"),
        ("floor(floor(h/2 - 1/2)/2 + 1/2)", "(h + 1)//4"),
        ("batch-size", "batch-size"),
        ("Max(1, a)", "Max(1, a)"),
        ("<script>", "<script>"),
    ],
)
def test_the_ways_exporters_write_sizes_are_understood(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize("text", ["", "?", "12", "-"])
def test_text_that_names_nothing_is_an_unknown_size(text: str) -> None:
    assert parse(text) is None


def doubled(times: int) -> Dimension:
    dim: Dimension = symbol("a")
    for _ in range(times):
        dim = floor_divide(dim + 1, symbol("b")) + floor_divide(dim, symbol("c"))
    return dim


def squared(times: int) -> Dimension:
    dim: Dimension = symbol("a")
    for index in range(times):
        dim = floor_divide(dim * dim + symbol(f"s{index}"), 3)
    return dim


@pytest.mark.parametrize("grow", [doubled, squared])
def test_growth_is_bounded(grow: Callable[[int], Dimension]) -> None:
    with pytest.raises(TooComplex):
        grow(200)


def test_hostile_nesting_is_taken_as_one_name() -> None:
    text = "(" * 200 + "a" + ")" * 200
    assert str(parse(text)) == text
