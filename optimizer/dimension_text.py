"""Reading the names that models give to dimensions: `batch`, `past + seq`, `floor(h/2) + 1`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from optimizer.dimension import (
    Dimension,
    Expression,
    TooComplex,
    exact_divide,
    floor_divide,
    symbol,
)

LONGEST_EXPRESSION = 500
"""Longer text is taken as one name; exporters do not write such sizes."""

_TOKEN = re.compile(
    # a hyphen inside a name ("batch-size") belongs to it; exporters put blanks around a minus
    r"\s*(?:(?P<number>\d+)|(?P<name>[A-Za-z_][\w.]*(?:-[A-Za-z_][\w.]*)*)|(?P<sign>//|[-+*/()]))"
)
_HIGHEST_NUMBER = 2**62
_NAMELESS = frozenset({"None", "none", "unknown"})
"""Written by exporters for several unrelated dimensions of one model."""

_DEEPEST = 40
_Ratio = tuple[Dimension, int]


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression | None:
    """The dimension that `text` names, or None where it says nothing ("", "?", "12", "None").

    Text that is not an expression of ours or of sympy's is taken as one opaque name.
    """
    if text in _NAMELESS or not any(character.isalpha() for character in text):
        return None
    if text.isidentifier():
        return symbol(text)
    try:
        dim = _Parser(text).whole()
    except (ValueError, TooComplex, ZeroDivisionError):
        return symbol(text)
    return dim if isinstance(dim, Expression) else None


def names_in(text: str) -> tuple[str, ...]:
    """The dimension names that a size depends on; the text itself where it is just a name."""
    dim = parse(text)
    return () if dim is None else tuple(sorted(dim.symbols()))


class _Parser:
    """Recursive descent over sums, products and `floor`; values are (numerator, divisor) pairs."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_EXPRESSION:
            raise ValueError("too long")
        self._tokens = list(_tokens(text))
        self._position = 0
        self._depth = 0

    def whole(self) -> Dimension:
        numerator, divisor = self._sum()
        result = exact_divide(numerator, divisor)
        if result is None or self._peek():
            raise ValueError("not a whole size")
        return result

    def _peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._position += 1
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ValueError(f"no {token}")

    def _sum(self) -> _Ratio:
        numerator, divisor = self._product()
        while (sign := self._peek()) in ("+", "-"):
            self._take()
            top, bottom = self._product()
            term = top * divisor
            numerator = numerator * bottom + (term if sign == "+" else -term)
            divisor *= bottom
        return numerator, divisor

    def _product(self) -> _Ratio:
        numerator, divisor = self._factor()
        while (sign := self._peek()) in ("*", "/", "//"):
            self._take()
            top, bottom = self._factor()
            if sign == "*":
                numerator, divisor = numerator * top, divisor * bottom
            elif sign == "//":
                numerator, divisor = floor_divide(numerator * bottom, top * divisor), 1
            elif isinstance(top, int) and top > 0:
                numerator, divisor = numerator * bottom, divisor * top
            else:
                raise ValueError("division by a name")
        return numerator, divisor

    def _factor(self) -> _Ratio:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("too deep")
        try:
            return self._unbounded_factor()
        finally:
            self._depth -= 1

    def _unbounded_factor(self) -> _Ratio:
        word = self._take()
        if word == "-":
            numerator, divisor = self._product()
            return -numerator, divisor
        if word == "(":
            inside = self._sum()
            self._expect(")")
            return inside
        if word.isdigit():
            return int(word), 1
        if word in ("floor", "ceiling") and self._peek() == "(":
            self._take()
            numerator, divisor = self._sum()
            self._expect(")")
            up = word == "ceiling"  # ceiling(x) -> -floor(-x)
            rounded = floor_divide(-numerator if up else numerator, divisor)
            return (-rounded if up else rounded), 1
        if not word or not (word[0].isalpha() or word[0] == "_") or self._peek() == "(":
            raise ValueError("not a name")
        return symbol(word), 1


def _tokens(text: str) -> Iterator[str]:
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError("not an expression")
        position = match.end()
        token = match.group(match.lastgroup or 0)
        if token.isdigit() and int(token) > _HIGHEST_NUMBER:
            raise ValueError("too large")
        yield token
