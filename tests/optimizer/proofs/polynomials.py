"""Terms of real numbers as polynomials, and as fractions of them: equal ones without a search."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import prod

from tests.optimizer.proofs.smt import Term, z3

MOST = 1500
"""Parts of an expression, and products of a sum, beyond which nothing is multiplied out."""


def same_fraction(a: Term, b: Term) -> bool:
    """Whether a·d = c·b for a/b and c/d, multiplied out; divisors are taken as other than 0."""
    if not (z3.is_real(a) and z3.is_real(b) and is_small(a) and is_small(b)):
        return False
    (top, below), (other, under) = _fraction(_canonical(a)), _fraction(_canonical(b))
    if max(_products(top) * _products(under), _products(other) * _products(below)) > MOST:
        return False
    difference = _canonical(top - other if z3.eq(below, under) else top * under - other * below)
    return z3.is_rational_value(difference) and difference.as_fraction() == 0


def is_small(term: Term) -> bool:
    """Whether the expression, written out, has at most `MOST` parts."""
    waiting, parts = [term], 0
    while waiting and parts <= MOST:
        parts += 1
        waiting += waiting.pop().children()
    return parts <= MOST


def _canonical(term: Term) -> Term:
    return z3.simplify(term, som=True)


def _fraction(term: Term) -> tuple[Term, Term]:
    """Numerator and denominator."""
    one = z3.RealVal(1)
    parts = [_fraction(part) for part in term.children()] if _is_arithmetic(term) else []
    if not parts or prod(_products(top) * _products(below) for top, below in parts) > MOST:
        return term, one
    if z3.is_div(term):
        (top, below), (other, under) = parts
        return top * under, below * other
    if z3.is_mul(term):
        return reduce(lambda a, b: (a[0] * b[0], a[1] * b[1]), parts)
    if len(parts) == 1:
        return -parts[0][0], parts[0][1]
    sign = -1 if z3.is_sub(term) else 1
    return reduce(lambda a, b: _sum(a, (sign * b[0], b[1])), parts)


def _products(term: Term) -> int:
    """An upper bound of how many products the term is a sum of."""
    if z3.is_mul(term):
        return prod(_products(part) for part in term.children())
    if z3.is_add(term) or z3.is_sub(term):
        return sum(_products(part) for part in term.children())
    return 1


def _is_arithmetic(term: Term) -> bool:
    kinds = (z3.is_add, z3.is_sub, z3.is_mul, z3.is_div)
    return any(kind(term) for kind in kinds) or z3.is_app_of(term, z3.Z3_OP_UMINUS)


def _sum(a: tuple[Term, Term], b: tuple[Term, Term]) -> tuple[Term, Term]:
    if z3.eq(a[1], b[1]):
        return a[0] + b[0], a[1]
    return a[0] * b[1] + b[0] * a[1], a[1] * b[1]


def coefficients(term: Term) -> Fraction | None:
    """The sum of the magnitudes of a polynomial's coefficients; None where it is none."""
    if not is_small(term):
        return None
    term = _canonical(term)
    total = Fraction(0)
    for part in term.children() if z3.is_add(term) else [term]:
        factors = _factors(part)
        coefficient = Fraction(1)
        for factor in factors:
            if z3.is_rational_value(factor):
                coefficient *= factor.as_fraction()
            elif factor.num_args() and factor.decl().kind() != z3.Z3_OP_POWER:
                return None
        total += abs(coefficient)
    return total


def _factors(term: Term) -> list[Term]:
    if not z3.is_mul(term):
        return [term]
    return [factor for part in term.children() for factor in _factors(part)]
