"""Index arithmetic in its shortest form: sums of loop variables, and few divisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from optimizer.dimension import Dimension, at_least, exact_divide, floor_divide, symbol
from optimizer.loops.algorithm import Func, extent_scalar
from optimizer.loops.scalar import (
    BOOL,
    INDEX,
    Apply,
    FreeSize,
    Number,
    Scalar,
    ScalarFunction,
    Var,
    apply,
    index,
    rewritten,
)

Extents = Mapping[str, Dimension]
Range = tuple[Dimension, Dimension]
"""Smallest and largest value."""


@dataclass(frozen=True, slots=True)
class Affine:
    """A constant and multiples of what changes from round to round.

    Attributes:
        factors: of loop variables, and of whatever is no sum.
    """

    constant: Dimension = 0
    factors: Mapping[Scalar, Dimension] = field(default_factory=dict[Scalar, Dimension])

    def plus(self, other: Affine, times: Dimension = 1) -> Affine:
        """The sum with a multiple of another one."""
        factors = dict(self.factors)
        for atom, factor in other.factors.items():
            factors[atom] = factors.get(atom, 0) + factor * times
        left = {atom: factor for atom, factor in factors.items() if factor != 0}
        return Affine(self.constant + other.constant * times, left)

    def parted(self, divisor: Dimension) -> tuple[Affine, Affine]:
        """Quotient and rest: the terms that are multiples of a divisor, divided, and the others."""
        quotient: dict[Scalar, Dimension] = {}
        rest: dict[Scalar, Dimension] = {}
        for atom, factor in self.factors.items():
            whole = exact_divide(factor, divisor)
            if whole is None:
                rest[atom] = factor
            else:
                quotient[atom] = whole
        whole = exact_divide(self.constant, divisor)
        if whole is None and isinstance(self.constant, int) and isinstance(divisor, int):
            whole = self.constant // divisor
        held = 0 if whole is None else whole
        return Affine(held, quotient), Affine(self.constant - held * divisor, rest)

    def scalar(self) -> Scalar:
        """The expression."""
        total: Scalar | None = None
        for atom, factor in self.factors.items():
            term = atom if factor == 1 else apply("mul", atom, extent_scalar(factor))
            total = term if total is None else apply("add", total, term)
        if total is None:
            return extent_scalar(self.constant)
        if isinstance(self.constant, int) and self.constant < 0:
            return apply("sub", total, index(-self.constant))
        return total if self.constant == 0 else apply("add", total, extent_scalar(self.constant))


def affine(scalar: Scalar, extents: Extents) -> Affine:
    """An index as a sum; divisions and remainders that do nothing are gone."""
    if isinstance(scalar, Number):
        return Affine(int(scalar.value))
    if isinstance(scalar, FreeSize):
        return Affine(symbol(scalar.name))
    if not isinstance(scalar, Apply) or scalar.function not in _ARITHMETIC:
        return Affine(0, {scalar: 1})
    left, right = (affine(argument, extents) for argument in scalar.arguments)
    return _ARITHMETIC[scalar.function](left, right, extents) or Affine(
        0, {apply(scalar.function, left.scalar(), right.scalar()): 1}
    )


def _product(left: Affine, right: Affine, _: Extents) -> Affine | None:
    if not right.factors:
        return Affine().plus(left, right.constant)
    return None if left.factors else Affine().plus(right, left.constant)


def _quotient(left: Affine, right: Affine, extents: Extents) -> Affine | None:
    divisor = right.constant
    if right.factors or divisor == 0:
        return None
    quotient, rest = left.parted(divisor)
    if (not rest.factors and rest.constant == 0) or _is_rest(rest, divisor, extents):
        return quotient
    if not quotient.factors and quotient.constant == 0:
        return None
    return quotient.plus(Affine(0, {apply("floor_div", rest.scalar(), extent_scalar(divisor)): 1}))


def _rest(left: Affine, right: Affine, extents: Extents) -> Affine | None:
    divisor = right.constant
    if right.factors or divisor == 0:
        return None
    _, rest = left.parted(divisor)
    if _is_rest(rest, divisor, extents):
        return rest
    return Affine(0, {apply("floor_mod", rest.scalar(), extent_scalar(divisor)): 1})


def _is_rest(rest: Affine, divisor: Dimension, extents: Extents) -> bool:
    found = range_of(rest, extents)
    return (
        found is not None and bool(at_least(found[0], 0)) and bool(at_least(divisor - 1, found[1]))
    )


def _sum(left: Affine, right: Affine, extents: Extents) -> Affine:
    """The sum, with a quotient and its rest as what was divided: d (x // d) + x % d -> x."""
    total = left.plus(right)
    for atom, factor in total.factors.items():
        if not isinstance(atom, Apply) or atom.function != "floor_mod":
            continue
        whole = Apply("floor_div", atom.arguments, atom.dtype)
        divisor = affine(atom.arguments[1], extents)
        if not divisor.factors and total.factors.get(whole) == factor * divisor.constant:
            parts = Affine(0, {atom: factor, whole: factor * divisor.constant})
            divided = affine(atom.arguments[0], extents)
            return _sum(total.plus(parts, -1), Affine().plus(divided, factor), extents)
    return total


_ARITHMETIC: Mapping[ScalarFunction, Callable[[Affine, Affine, Extents], Affine | None]] = {
    "add": _sum,
    "sub": lambda left, right, extents: _sum(left, Affine().plus(right, -1), extents),
    "mul": _product,
    "floor_div": _quotient,
    "floor_mod": _rest,
}


def range_of(form: Affine, extents: Extents) -> Range | None:
    """Between which values an index lies; None where nothing says so."""
    low, high = form.constant, form.constant
    for atom, factor in form.factors.items():
        found = _atom_range(atom, extents)
        if found is None:
            return None
        ends = (found[0] * factor, found[1] * factor)
        if at_least(factor, 0):
            low, high = low + ends[0], high + ends[1]
        elif at_least(0, factor):
            low, high = low + ends[1], high + ends[0]
        else:
            return None
    return low, high


def stays_within(place: Scalar, extent: Dimension, extents: Extents) -> bool:
    """Whether an index surely is a place of an axis, in every round."""
    found = range_of(affine(place, extents), extents)
    return found is not None and bool(at_least(found[0], 0) and at_least(extent - 1, found[1]))


def _atom_range(atom: Scalar, extents: Extents) -> Range | None:
    if isinstance(atom, Var):
        return 0, extents[atom.name] - 1
    if not isinstance(atom, Apply) or atom.function not in ("floor_div", "floor_mod"):
        return None
    divisor = affine(atom.arguments[1], extents)
    if divisor.factors:
        return None
    if atom.function == "floor_mod":
        return 0, divisor.constant - 1
    found = range_of(affine(atom.arguments[0], extents), extents)
    if found is None:
        return None
    return floor_divide(found[0], divisor.constant), floor_divide(found[1], divisor.constant)


def shortened(scalar: Scalar, extents: Extents) -> Scalar:
    """An expression with indices in their shortest form, and without choices that are certain."""

    def change(part: Scalar) -> Scalar:
        if not isinstance(part, Apply):
            return part
        if part.dtype == INDEX and part.function in _ARITHMETIC:
            return affine(part, extents).scalar()
        if part.function in _COMPARED and part.arguments[0].dtype == INDEX:
            return _decided(part, extents)
        return _chosen(part)

    return rewritten(scalar, change)


_COMPARED = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "min", "max"})


def _decided(part: Apply, extents: Extents) -> Scalar:
    """A comparison of indices, or the smaller or larger one, where sizes say which it is."""
    left, right = part.arguments
    found = range_of(affine(left, extents).plus(affine(right, extents), -1), extents)
    if found is None:
        return part
    not_above, not_below = bool(at_least(0, found[1])), bool(at_least(found[0], 0))
    if part.function in ("min", "max"):
        first = not_above if part.function == "min" else not_below
        second = not_below if part.function == "min" else not_above
        return left if first else right if second else part
    below, above = bool(at_least(-1, found[1])), bool(at_least(found[0], 1))
    same = found == (0, 0)
    yes, no = {
        "lt": (below, not_below),
        "le": (not_above, above),
        "gt": (above, not_above),
        "ge": (not_below, below),
        "eq": (same, below or above),
        "ne": (below or above, same),
    }[part.function]
    return Number(yes, BOOL) if yes or no else part


def _chosen(part: Apply) -> Scalar:
    """A choice that is already made."""
    first, *rest = part.arguments
    if part.function == "select":
        if isinstance(first, Number):
            return rest[0] if first.value else rest[1]
        return rest[0] if rest[0] is rest[1] else part
    if part.function in ("and", "or"):
        absorbing = part.function == "or"
        for one, other in ((first, rest[0]), (rest[0], first)):
            if isinstance(one, Number):
                return one if bool(one.value) == absorbing else other
    if part.function == "not" and isinstance(first, Number):
        return Number(not first.value, BOOL)
    return part


def extents_of(func: Func) -> dict[str, Dimension]:
    """How far each variable of a Func runs."""
    axes = (*func.axes, *(func.reduction.axes if func.reduction else ()))
    return {axis.name: axis.extent for axis in axes}
