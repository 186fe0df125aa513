"""Sizes that are not numbers yet: integer polynomials over named dimensions.

`past + seq`, `2*seq` and `(h + 1)//2` are kept in a canonical form, so that two ways of arriving
at the same size compare equal. Every symbol stands for a size, hence for an integer >= 0; rules
below use nothing else about it. Equality is syntactic: different forms may still be equal numbers,
equal forms always are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd

MAX_TERMS = 32
MAX_DEGREE = 12
MAX_TEXT = 10_000


class TooComplex(ArithmeticError):
    """An expression has grown past `MAX_TERMS` or `MAX_DEGREE`; treat the size as unknown."""


class Quotient:
    """`numerator // divisor`, rounded down, where the division does not come out even."""

    __slots__ = ("_text", "divisor", "numerator")

    def __init__(self, numerator: Expression, divisor: int | Expression) -> None:
        self.numerator = numerator
        self.divisor = divisor
        bottom = f"({divisor})" if isinstance(divisor, Expression) else str(divisor)
        self._text = f"{numerator if _is_symbol(numerator) else f'({numerator})'}//{bottom}"
        if len(self._text) > MAX_TEXT:
            raise TooComplex("a size has grown too complex to follow")

    def __str__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quotient) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


Atom = str | Quotient
Monomial = tuple[Atom, ...]


class Expression:
    """A polynomial with integer coefficients that is not a constant. Immutable and hashable.

    Attributes:
        terms: (monomial, coefficient) pairs in canonical order; the empty monomial is the constant.
    """

    __slots__ = ("_hash", "_text", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._text: str | None = None
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expression) and self.terms == other.terms)

    def __hash__(self) -> int:
        self._hash = hash(self.terms) if self._hash is None else self._hash
        return self._hash

    def __str__(self) -> str:
        self._text = _render(self.terms) if self._text is None else self._text
        return self._text

    def __repr__(self) -> str:
        return f"Expression({self})"

    def __add__(self, other: Dimension) -> Dimension:
        total = dict(self.terms)
        for monomial, coefficient in _terms(other):
            total[monomial] = total.get(monomial, 0) + coefficient
        return _canonical(total)

    __radd__ = __add__

    def __neg__(self) -> Dimension:
        return Expression(tuple((monomial, -coefficient) for monomial, coefficient in self.terms))

    def __sub__(self, other: Dimension) -> Dimension:
        return self + -other

    def __rsub__(self, other: int) -> Dimension:
        return -self + other

    def __mul__(self, other: Dimension) -> Dimension:
        if isinstance(other, int):  # the order of the terms stays
            scaled = tuple([(monomial, factor * other) for monomial, factor in self.terms])
            return Expression(scaled) if other else 0
        total: dict[Monomial, int] = {}
        for left, factor in self.terms:
            for right, coefficient in other.terms:
                monomial = tuple(sorted(left + right, key=str)) if left and right else left + right
                total[monomial] = total.get(monomial, 0) + factor * coefficient
        return _canonical(total)

    __rmul__ = __mul__

    def __floordiv__(self, other: Dimension) -> Dimension:
        return floor_divide(self, other)

    def __rfloordiv__(self, other: int) -> Dimension:
        return floor_divide(other, self)

    def symbols(self) -> frozenset[str]:
        """The names that occur in the expression."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, str):
                    found.add(atom)
                else:
                    found |= atom.numerator.symbols()
                    if isinstance(atom.divisor, Expression):
                        found |= atom.divisor.symbols()
        return frozenset(found)

    def evaluate(self, sizes: Mapping[str, Dimension]) -> Dimension:
        """The expression with the named sizes filled in: numbers, or other expressions."""
        total: Dimension = 0
        for monomial, coefficient in self.terms:
            product: Dimension = coefficient
            for atom in monomial:
                product = product * _atom_value(atom, sizes)
            total = total + product
        return total


Dimension = int | Expression
"""One size: a number, or an expression over named sizes."""


def symbol(name: str) -> Expression:
    """The dimension called `name`, whatever characters the name has."""
    return Expression((((name,), 1),))


def exact_divide(numerator: Dimension, divisor: Dimension) -> Dimension | None:
    """`numerator / divisor` where it comes out even for every size, else None.

    A symbolic divisor is taken to be nonzero: ONNX leaves the division undefined otherwise.
    """
    if isinstance(numerator, int) and isinstance(divisor, int):
        return None if divisor == 0 or numerator % divisor else numerator // divisor
    if numerator in (0, divisor) and divisor != 0:
        return int(numerator == divisor)
    bottom = _terms(divisor)
    if len(bottom) != 1:
        return _ratio(numerator, divisor)
    monomial, factor = bottom[0]
    total: dict[Monomial, int] = {}
    for top, coefficient in _terms(numerator):
        rest = _without(top, monomial)
        if rest is None or factor == 0 or coefficient % factor:
            return None
        total[rest] = coefficient // factor
    return _canonical(total)


def floor_divide(numerator: Dimension, divisor: Dimension) -> Dimension:
    """`numerator // divisor`, rounded towards minus infinity; the divisor is positive."""
    if isinstance(numerator, int) and isinstance(divisor, int):
        return numerator // divisor
    if (exact := exact_divide(numerator, divisor)) is not None:
        return exact
    if not isinstance(numerator, Expression) or not isinstance(divisor, int):
        return _quotient(numerator, divisor)
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, coefficient in numerator.terms:
        # floor((a*d + r)/d) -> a + floor(r/d)
        part = coefficient // divisor if not monomial or coefficient % divisor == 0 else 0
        whole[monomial] = part
        rest[monomial] = coefficient - part * divisor
    return _canonical(whole) + _nested(_canonical(rest), divisor)


def at_least(larger: Dimension, smaller: Dimension) -> bool | None:
    """Whether `larger >= smaller` for all sizes (True), for none (False), or undecided (None)."""
    difference = larger - smaller
    if isinstance(difference, int):
        return difference >= 0
    if not _plain(difference):
        return None
    if all(coefficient >= 0 for _, coefficient in difference.terms):
        return True
    negative = all(coefficient <= 0 for _, coefficient in difference.terms)
    return False if negative and difference.terms[0][0] == () else None


def product(dims: Iterable[Dimension]) -> Dimension:
    """All dimensions multiplied; 1 for none."""
    number, total = 1, None
    for dim in dims:
        if isinstance(dim, int):
            number *= dim
        else:
            total = dim if total is None else total * dim
    return number if total is None else total * number


def _is_symbol(expression: Expression) -> bool:
    monomial, factor = expression.terms[-1]
    return len(expression.terms) == len(monomial) == factor == 1 and isinstance(monomial[0], str)


def _plain(expression: Expression) -> bool:
    """Whether no quotient occurs: those may be negative."""
    return all(isinstance(atom, str) for monomial, _ in expression.terms for atom in monomial)


def _terms(dim: Dimension) -> tuple[tuple[Monomial, int], ...]:
    return dim.terms if isinstance(dim, Expression) else (((), dim),)


def _canonical(total: dict[Monomial, int]) -> Dimension:
    terms = [(monomial, factor) for monomial, factor in total.items() if factor]
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    if len(terms) > MAX_TERMS or max(len(monomial) for monomial, _ in terms) > MAX_DEGREE:
        raise TooComplex("a size has grown too complex to follow")
    terms.sort(key=lambda term: (len(term[0]), [str(atom) for atom in term[0]]))
    return Expression(tuple(terms))


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """`monomial / divisor`, or None where the divisor's factors are not all there."""
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _ratio(numerator: Dimension, divisor: Dimension) -> Dimension | None:
    """The factor between two polynomials that are multiples of each other, else None."""
    top, bottom = _terms(numerator), _terms(divisor)
    if len(top) != len(bottom):
        return None
    lead = _without(top[-1][0], bottom[-1][0])
    if lead is None or top[-1][1] % bottom[-1][1]:
        return None
    factor = _canonical({lead: top[-1][1] // bottom[-1][1]})
    return factor if factor * divisor == numerator else None


def _nested(numerator: Dimension, divisor: int) -> Dimension:
    if isinstance(numerator, int):
        return numerator // divisor
    # (x//a + c)//b -> (x + a*c)//(a*b)
    quotients = [m[0] for m, k in numerator.terms if len(m) == 1 and k == 1]
    constant = _terms(numerator)[0][1] if numerator.terms[0][0] == () else 0
    if len(numerator.terms) == 1 + (constant != 0) and quotients:
        inner = quotients[0]
        if isinstance(inner, Quotient) and isinstance(inner.divisor, int):
            shifted = inner.numerator + constant * inner.divisor
            return floor_divide(shifted, inner.divisor * divisor)
    common = gcd(divisor, *(factor for _, factor in numerator.terms))
    if common > 1:
        smaller = Expression(tuple((m, factor // common) for m, factor in numerator.terms))
        return floor_divide(smaller, divisor // common)
    return _quotient(numerator, divisor)


def _quotient(numerator: Dimension, divisor: Dimension) -> Dimension:
    top = numerator if isinstance(numerator, Expression) else Expression((((), numerator),))
    return Expression((((Quotient(top, divisor),), 1),))


def _atom_value(atom: Atom, sizes: Mapping[str, Dimension]) -> Dimension:
    if isinstance(atom, str):
        size = sizes.get(atom)
        return symbol(atom) if size is None else size
    divisor = atom.divisor
    if isinstance(divisor, Expression):
        divisor = divisor.evaluate(sizes)
    numerator = atom.numerator.evaluate(sizes)
    if divisor == 0:
        raise TooComplex("a size is divided by zero")
    return floor_divide(numerator, divisor)


def _render(terms: tuple[tuple[Monomial, int], ...]) -> str:
    text = ""
    for monomial, factor in sorted(terms, key=lambda term: not term[0]):  # the constant last
        size = abs(factor)
        alone = len(terms) == len(monomial) == factor == 1
        factors = ([str(size)] if size != 1 or not monomial else []) + [
            str(atom) if isinstance(atom, str) or alone else f"({atom})" for atom in monomial
        ]
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + "*".join(factors)
    return text
