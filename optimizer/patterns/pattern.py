"""Patterns, and what follows from their terms alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from optimizer.patterns.terms import (
    ARITHMETIC,
    Condition,
    Either,
    Formula,
    Node,
    Number,
    Term,
    Value,
)

FORMULA_DEPTH = 4
"""How many operators a formula may be deep in a graph."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Something to look for, from its last node.

    Attributes:
        title: what it computes: "Gelu".
        root: what the last node computes.
        where: conditions on the whole.
        ends: the operators to look at, where not all that may end it are worth it.
    """

    title: str
    root: Term
    where: tuple[Condition, ...] = ()
    ends: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        """The operators that it may end with, as `@rule` takes them."""
        return self.ends or tuple(sorted(heads(self.root) or ()))

    @property
    def reach(self) -> int:
        """How many nodes upstream of the last one it looks."""
        return depth(self.root) - 1


@cache
def heads(term: Term) -> frozenset[str] | None:
    """The operators that may compute a term, "domain::Op" outside ONNX's own; None for any."""
    match term:
        case Node():
            prefix = f"{term.domain}::" if term.domain else ""
            return frozenset(f"{prefix}{operator}" for operator in term.operators)
        case Either():
            found = [heads(each) for each in term.alternatives]
            known = [each for each in found if each is not None]
            return frozenset[str]().union(*known) if len(known) == len(found) else None
        case Formula():
            return ARITHMETIC
        case _:
            return None


@cache
def has_core(term: Term) -> bool:
    """Whether a node of the core is in a term."""
    return (isinstance(term, Node) and term.core) or any(map(has_core, _inner(term)))


@cache
def needed(term: Node) -> tuple[frozenset[str], ...]:
    """Operators of which one must make some operand, for the core to be there."""
    known = [heads(each) for each in term.inputs if has_core(each)]
    return tuple(each for each in known if each is not None)


@cache
def parts(term: Term) -> tuple[Term, ...]:
    """A term and all that is in it, once each."""
    return tuple(dict.fromkeys([term, *(part for each in _inner(term) for part in parts(each))]))


def _inner(term: Term) -> tuple[Term, ...]:
    """The terms that a term is made of."""
    match term:
        case Node():
            return term.inputs
        case Either():
            return term.alternatives
        case Formula():
            return (term.expression,)
        case _:
            return ()


@cache
def depth(term: Term) -> int:
    """How many nodes of a graph a term is deep, at most."""
    match term:
        case Node():
            return 1 + max((depth(each) for each in term.inputs), default=0)
        case Either():
            return max(depth(each) for each in term.alternatives)
        case Formula():
            inner = [depth(each) for each in atoms(term)]
            return FORMULA_DEPTH + max(inner, default=0)
        case _:
            return 0


@cache
def atoms(formula: Formula) -> tuple[Term, ...]:
    """What a formula is a polynomial in: values and nodes that are no arithmetic, once each."""
    found: dict[str | Term, Term] = {}
    pending: list[Term] = [formula.expression]
    while pending:
        term = pending.pop(0)
        if isinstance(term, Node) and not term.domain and {*term.operators} <= ARITHMETIC:
            pending += term.inputs
        elif not isinstance(term, Number):
            found[term.name if isinstance(term, Value) else term] = term
    return tuple(found.values())
