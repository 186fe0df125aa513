"""What elements of tensors are to Z3, and what operators make of them, in two theories.

*Bits*: floats are those of IEEE 754, rounded to nearest even, all NaN one value; integers are
two's complement words; equal means the same bits. *Reals*: floats are real numbers and
transcendental functions any functions at all, but for what `Reals` says of them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Protocol

import numpy as np
from onnx import TensorProto

from tests.optimizer.proofs.smt import Term, Unsupported, z3

_SIGNIFICANDS: Mapping[int, tuple[int, int]] = {
    TensorProto.FLOAT16: (5, 11),
    TensorProto.BFLOAT16: (8, 8),
    TensorProto.FLOAT: (8, 24),
    TensorProto.DOUBLE: (11, 53),
}
"""Bits of the exponent, and of the significand with the one that is not stored."""
_SIGNED: Mapping[int, int] = {
    TensorProto.INT8: 8,
    TensorProto.INT16: 16,
    TensorProto.INT32: 32,
    TensorProto.INT64: 64,
}
_UNSIGNED: Mapping[int, int] = {
    TensorProto.UINT8: 8, TensorProto.UINT16: 16, TensorProto.UINT32: 32, TensorProto.UINT64: 64,
}  # fmt: skip

Operation = Callable[..., Term]


class Theory(Protocol):
    """What floats are.

    Attributes:
        floats: what operators make of them.
        facts: what is known of functions and irrational numbers, collected as they are met.
        kept: terms that stand for what was read, so that none of them gets another's identity.
    """

    name: str
    floats: Mapping[str, Operation]
    facts: list[Term]
    kept: list[list[Term]]

    def sort(self, kind: int) -> Term:
        """The sort of an element type."""
        ...

    def constant(self, number: np.generic | np.ndarray, kind: int) -> Term:
        """An element that is known."""
        ...

    def cast(self, term: Term, kind: int, to: int) -> Term:
        """An element as another type."""
        ...


def is_float(kind: int) -> bool:
    """Whether elements are floats."""
    return kind in _SIGNIFICANDS


def integer_sort(kind: int) -> Term:
    """Words and truth values.

    Raises:
        Unsupported: the type is neither.
    """
    if kind == TensorProto.BOOL:
        return z3.BoolSort()
    width = _SIGNED.get(kind) or _UNSIGNED.get(kind)
    if width is None:
        raise Unsupported(f"elements of type {TensorProto.DataType.Name(kind).lower()}")
    return z3.BitVecSort(width)


def integer_constant(number: np.generic | np.ndarray, kind: int) -> Term:
    """A known word or truth value."""
    if kind == TensorProto.BOOL:
        return z3.BoolVal(bool(number))
    return z3.BitVecVal(int(number), integer_sort(kind))


def integer_cast(term: Term, kind: int, to: int) -> Term:
    """Words wrap around; truth is 1."""
    if kind == to:
        return term
    if kind == TensorProto.BOOL:
        one, zero = (integer_constant(np.int64(n), to) for n in (1, 0))
        return z3.If(term, one, zero)
    if to == TensorProto.BOOL:
        return term != 0
    narrow, wide = term.size(), integer_sort(to).size()
    if wide <= narrow:
        return z3.Extract(wide - 1, 0, term)
    extend = z3.SignExt if kind in _SIGNED else z3.ZeroExt
    return extend(wide - narrow, term)


def integer_operations(kind: int) -> Mapping[str, Operation]:
    """Arithmetic of words, as C has it."""
    signed = kind in _SIGNED
    less: Operation = operator.lt if signed else z3.ULT
    at_most: Operation = operator.le if signed else z3.ULE
    found: dict[str, Operation] = {
        **_ARITHMETIC,
        "Div": operator.truediv if signed else z3.UDiv,
        "Less": less,
        "LessOrEqual": at_most,
        "Greater": _swapped(less),
        "GreaterOrEqual": _swapped(at_most),
        "Max": _chosen(less),
        "Min": _chosen(_swapped(less)),
        "BitwiseNot": operator.invert,
        "BitwiseAnd": operator.and_,
        "BitwiseOr": operator.or_,
        "BitwiseXor": operator.xor,
    }
    return {**found, **_CLAMPED} if signed else {**found, "Abs": _itself, "Relu": _itself}


def _itself(a: Term) -> Term:
    return a


def _magnitude(a: Term) -> Term:
    return z3.If(a < 0, -a, a)


def _positive_part(a: Term) -> Term:
    return z3.If(a < 0, a - a, a)


def _swapped(operation: Operation) -> Operation:
    def swapped(a: Term, b: Term) -> Term:
        return operation(b, a)

    return swapped


def _chosen(loses: Operation) -> Operation:
    """Of two the first, unless it loses."""

    def chosen(a: Term, b: Term) -> Term:
        return z3.If(loses(a, b), b, a)

    return chosen


_ARITHMETIC: Mapping[str, Operation] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Neg": operator.neg,
}
_CLAMPED: Mapping[str, Operation] = {"Abs": _magnitude, "Relu": _positive_part}
LOGIC: Mapping[str, Operation] = {"And": z3.And, "Or": z3.Or, "Xor": z3.Xor, "Not": z3.Not}


class Bits:
    """Floats of IEEE 754."""

    name = "bits"
    rounding: Term = z3.RNE()

    def __init__(self) -> None:
        self.facts: list[Term] = []
        self.kept: list[list[Term]] = []

        def rounded(operation: Operation) -> Operation:
            return partial(operation, self.rounding)

        self.floats: Mapping[str, Operation] = {
            "Add": rounded(z3.fpAdd),
            "Sub": rounded(z3.fpSub),
            "Mul": rounded(z3.fpMul),
            "Div": rounded(z3.fpDiv),
            "Neg": z3.fpNeg,
            "Abs": z3.fpAbs,
            "Sqrt": rounded(z3.fpSqrt),
            "Floor": partial(z3.fpRoundToIntegral, z3.RTN()),
            "Ceil": partial(z3.fpRoundToIntegral, z3.RTP()),
            "Round": rounded(z3.fpRoundToIntegral),
            "Relu": _positive_float,
            "Less": z3.fpLT,
            "LessOrEqual": z3.fpLEQ,
            "Greater": z3.fpGT,
            "GreaterOrEqual": z3.fpGEQ,
            "Equal": z3.fpEQ,
            "IsNaN": z3.fpIsNaN,
            "Max": _propagating(z3.fpLT),
            "Min": _propagating(z3.fpGT),
        }

    def sort(self, kind: int) -> Term:
        """The sort of an element type."""
        return z3.FPSort(*_SIGNIFICANDS[kind]) if is_float(kind) else integer_sort(kind)

    def constant(self, number: np.generic | np.ndarray, kind: int) -> Term:
        """A number by its bits."""
        if not is_float(kind):
            return integer_constant(number, kind)
        width = number.dtype.itemsize * 8
        bits = int(np.asarray(number).view(f"u{width // 8}"))
        return z3.simplify(z3.fpBVToFP(z3.BitVecVal(bits, width), self.sort(kind)))

    def cast(self, term: Term, kind: int, to: int) -> Term:
        """An element as another type; what C leaves open beyond an integer's range stays open."""
        if not is_float(kind) and not is_float(to):
            return integer_cast(term, kind, to)
        if is_float(kind) and is_float(to):
            return z3.fpFPToFP(self.rounding, term, self.sort(to))
        if is_float(to):
            if kind == TensorProto.BOOL:
                term, kind = integer_cast(term, kind, TensorProto.INT32), TensorProto.INT32
            convert = z3.fpSignedToFP if kind in _SIGNED else z3.fpUnsignedToFP
            return convert(self.rounding, term, self.sort(to))
        if to == TensorProto.BOOL:
            return z3.Not(z3.fpIsZero(term))
        convert = z3.fpToSBV if to in _SIGNED else z3.fpToUBV
        return convert(z3.RTZ(), term, integer_sort(to))


def _positive_float(a: Term) -> Term:
    """Neither -0 nor NaN is less than 0."""
    zero = z3.fpPlusZero(a.sort())
    return z3.If(z3.fpLT(a, zero), zero, a)


def _propagating(loses: Operation) -> Operation:
    """Max or Min: a NaN on either side wins; of zeros with two signs, nobody says which."""

    def chosen(a: Term, b: Term) -> Term:
        either = z3.Function("of two zeros the first", a.sort(), a.sort(), z3.BoolSort())
        zeros = z3.And(z3.fpIsZero(a), z3.fpIsZero(b), z3.Not(a == b))
        second = z3.Or(z3.fpIsNaN(b), loses(a, b), z3.And(zeros, either(a, b)))
        return z3.If(z3.fpIsNaN(a), a, z3.If(second, b, a))

    return chosen


class Reals:
    """Floats are real numbers; constants are the simplest fractions that round to them."""

    name = "reals"

    def __init__(self) -> None:
        self.facts: list[Term] = []
        self.kept: list[list[Term]] = []
        self.roots: dict[int, int] = {}
        """Radicands, by the identity of the root's term."""
        self.floats: Mapping[str, Operation] = {
            **_ARITHMETIC,
            **_CLAMPED,
            "Div": self.quotient,
            "Reciprocal": partial(self.quotient, z3.RealVal(1)),
            "Exp": self.exponential,
            "Sqrt": self.square_root,
            "Less": operator.lt,
            "LessOrEqual": operator.le,
            "Greater": operator.gt,
            "GreaterOrEqual": operator.ge,
            "Equal": operator.eq,
            "Max": _chosen(operator.lt),
            "Min": _chosen(operator.gt),
        }

    def sort(self, kind: int) -> Term:
        """The sort of an element type."""
        return z3.RealSort() if is_float(kind) else integer_sort(kind)

    def constant(self, number: np.generic | np.ndarray, kind: int) -> Term:
        """The number that a float stands for.

        Raises:
            Unsupported: it is infinite or none.
        """
        if not is_float(kind):
            return integer_constant(number, kind)
        value = float(number)
        if not math.isfinite(value):
            raise Unsupported("a constant that is no real number")
        for root, (factor, radicand) in _ROOTS.items():
            if number.dtype.type(root) == number:
                return self.root(radicand) * z3.RealVal(str(factor))
        simple = Fraction(value).limit_denominator(1000)
        if number.dtype.type(float(simple)) != number:
            simple = Fraction(value)
        return z3.RealVal(str(simple))

    def cast(self, term: Term, kind: int, to: int) -> Term:
        """Between floats nothing happens; words become numbers."""
        if is_float(kind) and is_float(to):
            return term
        if is_float(to) and kind == TensorProto.BOOL:
            return z3.If(term, z3.RealVal(1), z3.RealVal(0))
        if is_float(to):
            return z3.ToReal(z3.BV2Int(term, is_signed=kind in _SIGNED))
        if is_float(kind):
            raise Unsupported("a cast from a float to an integer, among reals")
        return integer_cast(term, kind, to)

    def quotient(self, a: Term, b: Term) -> Term:
        """Nothing is said of a division by zero; one by √n is a product with √n / n."""
        b = z3.simplify(b)
        if b.get_id() in self.roots:
            return a * b * z3.RealVal(str(Fraction(1, self.roots[b.get_id()])))
        if not z3.is_rational_value(b):
            self.facts.append(b != 0)
        return a / b

    def exponential(self, term: Term) -> Term:
        """exp(a - b) = exp(a) / exp(b), and positive."""
        if z3.is_sub(term):
            first, second = term.children()
            return self.exponential(first) / self.exponential(second)
        made = z3.Function("exp", z3.RealSort(), z3.RealSort())(term)
        self.facts.append(made > 0)
        return made

    def square_root(self, term: Term) -> Term:
        """√ of a known number is an irrational one; of anything else, some function."""
        value = z3.simplify(term)
        if not z3.is_rational_value(value):
            return z3.Function("Sqrt", z3.RealSort(), z3.RealSort())(term)
        number = value.as_fraction()
        product = number.numerator * number.denominator  # √(p/q) = √(p q) / q
        whole = math.isqrt(product)
        root = z3.RealVal(whole) if whole * whole == product else self.root(product)
        return root * z3.RealVal(str(Fraction(1, number.denominator)))

    def root(self, radicand: int) -> Term:
        """√ of a whole number that is no square."""
        root = z3.Real(f"√{radicand}")
        self.facts += [root > 0, root * root == radicand]
        self.roots[root.get_id()] = radicand
        self.kept.append([root])
        return root


_ROOTS: Mapping[float, tuple[Fraction, int]] = {
    math.sqrt(0.5): (Fraction(1, 2), 2),
    math.sqrt(2): (Fraction(1), 2),
}
"""Irrational numbers that floats in files stand for, as a fraction of the root of a number."""
