"""What a pattern is made of: plain data, written like the formula that it looks for.

`x * node("Sigmoid", x)` is a Mul of a value and of its Sigmoid. The matcher, the pictures of the
documentation and the smallest models of the tests all read these terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from optimizer.operators.catalogue import COMMUTATIVE

if TYPE_CHECKING:
    from optimizer.patterns.found import Found
    from optimizer.rules import Context

Setting: TypeAlias = "int | float | str"
ARITHMETIC = frozenset({"Add", "Div", "Mul", "Neg", "Pow", "Sub"})
"""Operators that a formula is spelled with, whatever their order."""


class Arithmetic:
    """Terms are added and multiplied as what they stand for."""

    __slots__ = ()

    def __add__(self, other: Term | float) -> Node:
        return node("Add", _term(self), other)

    def __radd__(self, other: float) -> Node:
        return node("Add", other, _term(self))

    def __sub__(self, other: Term | float) -> Node:
        return node("Sub", _term(self), other)

    def __mul__(self, other: Term | float) -> Node:
        return node("Mul", _term(self), other)

    def __rmul__(self, other: float) -> Node:
        return node("Mul", other, _term(self))

    def __truediv__(self, other: Term | float) -> Node:
        return node("Div", _term(self), other)

    def __pow__(self, other: float) -> Node:
        return node("Pow", _term(self), other)


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """What has to hold beside the operators.

    Attributes:
        needs: in words, without what is special about a place: "The mean runs over the last axes".
        check: answers what there is instead, None where the condition holds. It may ask for
            whatever stands before it in the pattern.
    """

    needs: str
    check: Callable[[Found, Context], str | None]


@dataclass(frozen=True, slots=True, eq=False)
class Value(Arithmetic):
    """Any value; where a name stands twice, it is twice the same value.

    Attributes:
        name: by which a rewrite asks for it.
        where: conditions on it.
        sample: its shape in the smallest model.
        weight: its elements there, as many as it takes, repeated; none for an input.
    """

    name: str
    where: tuple[Condition, ...] = ()
    sample: tuple[int, ...] = (2, 3, 4)
    weight: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Number(Arithmetic):
    """A constant of one element.

    Attributes:
        value: what it must be, as nearly as the element type can say it; None for any.
        text: how people write it: "1/√2".
        name: by which a rewrite asks for it.
        sample: what it is in the smallest model, where any will do.
    """

    value: float | None
    text: str = ""
    name: str = ""
    sample: float = 1.0

    @property
    def spoken(self) -> str:
        """The number for people."""
        digits = "" if self.value is None else f"{self.value:.4g}"
        return f"{digits} = {self.text}" if digits and self.text else digits or self.name


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """Integers that newer versions of an operator take as an input, older ones as an attribute.

    Attributes:
        name: of the attribute.
        index: of the input.
        sample: what they are in the smallest model.
    """

    name: str
    index: int
    sample: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Node(Arithmetic):
    """One operator, or one of several, and what it reads.

    Operands may be swapped where the operator's line in the catalogue says so.

    Attributes:
        operators: the first is the usual one.
        inputs: in order; those left out at the end must be missing in the graph.
        domain: "" is ONNX's own.
        settings: attributes and what they must be, defaults included.
        parameters: lists of integers, for `where` to look at.
        where: conditions on it, asked before its inputs are looked at.
        name: by which conditions and rewrites ask for it.
        core: whether nothing is said of a place that lacks it: without it, nothing like this
            pattern is there.
    """

    operators: tuple[str, ...]
    inputs: tuple[Term, ...]
    domain: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict[str, "Setting"])
    parameters: tuple[Parameter, ...] = ()
    where: tuple[Condition, ...] = ()
    name: str = ""
    core: bool = False

    @property
    def commutes(self) -> bool:
        """Whether its two operands may be swapped."""
        return not self.domain and len(self.inputs) == 2 and {*self.operators} <= COMMUTATIVE


@dataclass(frozen=True, slots=True, eq=False)
class Either(Arithmetic):
    """One of several spellings; the first that fits is taken."""

    alternatives: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Formula(Arithmetic):
    """Arithmetic in any association and order, compared as a polynomial in its other parts.

    Attributes:
        expression: one spelling of it.
    """

    expression: Node


Term = Value | Number | Node | Either | Formula


def node(
    operators: str,
    *inputs: Term | float,
    domain: str = "",
    settings: Mapping[str, Setting] | None = None,
    parameters: Iterable[Parameter] = (),
    where: Iterable[Condition] = (),
    name: str = "",
    core: bool = False,
) -> Node:
    """A `Node`; several operators are written with spaces between, plain numbers as they are."""
    terms = tuple(Number(float(i)) if isinstance(i, int | float) else i for i in inputs)
    known = (domain, settings or {}, (*parameters,), (*where,), name, core)
    return Node((*operators.split(),), terms, *known)


def either(*alternatives: Term) -> Either:
    """One of several spellings."""
    return Either(alternatives)


def maybe(around: Callable[[Term], Term], inner: Term) -> Either:
    """`inner`, or what is around it where that is there too: `maybe(lambda y: y * scale, y)`."""
    return Either((around(inner), inner))


def repeated(around: Callable[[Term], Term], inner: Term, *, most: int) -> Term:
    """`inner`, with up to `most` times the same around it."""
    for _ in range(most):
        inner = maybe(around, inner)
    return inner


def _term(this: Arithmetic) -> Term:
    assert isinstance(this, Value | Number | Node | Either | Formula)
    return this
