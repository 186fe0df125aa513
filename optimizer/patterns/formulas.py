"""Finds arithmetic whatever its association and order, as a polynomial in what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Protocol

import onnx_ir as ir

from optimizer.model.graph import use_count
from optimizer.patterns.found import CONDITION, OPERATOR, Found, Miss, spoken
from optimizer.patterns.pattern import FORMULA_DEPTH, atoms, heads, parts
from optimizer.patterns.polynomials import (
    Polynomial,
    Reader,
    agrees,
    combined,
    powers_of,
    rounding,
    same_terms,
    written,
)
from optimizer.patterns.terms import ARITHMETIC, Formula, Node, Number, Term, Value
from optimizer.rules import Context, operator_of

_FOREIGN = OPERATOR + 1
MOST_CANDIDATES = 6
"""Values at one distance that are looked at."""


class Search(Protocol):
    """The search that a formula is part of."""

    context: Context

    def look(
        self, term: Term, value: ir.Value | None, found: Found, reader: ir.Node | None
    ) -> bool:
        """Match a term with a value that `reader` reads; whether it is worth going on."""
        ...


def look(
    search: Search, formula: Formula, value: ir.Value, found: Found, reader: ir.Node | None
) -> bool:
    """Match a formula with a value; its nodes first, for they say what its values are."""
    variables: dict[Term, ir.Value | None] = dict.fromkeys(atoms(formula))
    for part in variables:
        if isinstance(part, Value):
            continue
        nearest = _nearest(part, value.producer())
        if nearest is None or not search.look(part, nearest, found, reader):
            return False
        variables[part] = nearest
    for part in variables:
        if isinstance(part, Value):
            variables[part] = found.values.get(part.name)
    for part, known in [*variables.items()]:
        if known is None and not _bind(part, variables, formula, value, found, search.context):
            return False
    return _compare(formula, [*variables.values()], value, found, reader, search.context)


def may_end(formula: Formula, node: ir.Node) -> bool:
    """Whether a node may be the last one of a formula: its nodes are there, at first sight."""
    inner = [part for part in atoms(formula) if not isinstance(part, Value)]
    return None not in [_nearest(part, node) for part in inner]


@cache
def wanted(formula: Formula) -> Polynomial:
    """A formula as a polynomial in its atoms."""
    found = _polynomial(formula.expression, formula)
    assert found is not None, "a formula is a polynomial"
    return found


def _polynomial(term: Term, formula: Formula) -> Polynomial | None:
    variables = atoms(formula)
    if isinstance(term, Number):
        assert term.value is not None, "the numbers of a formula are known"
        return {(0,) * len(variables): term.value}
    named = {part.name if isinstance(part, Value) else part: i for i, part in enumerate(variables)}
    index = named.get(term.name if isinstance(term, Value) else term)
    if index is not None:
        return {powers_of(index, len(variables)): 1.0}
    assert isinstance(term, Node)
    operands = [_polynomial(each, formula) for each in term.inputs]
    return combined(term.operators[0], [each for each in operands if each is not None])


def _bind(
    part: Term,
    variables: dict[Term, ir.Value | None],
    formula: Formula,
    value: ir.Value,
    found: Found,
    context: Context,
) -> bool:
    """Find the value that a formula is about: with it the polynomial is right, or nearly."""
    assert isinstance(part, Value)
    near: ir.Value | None = None
    nearest = _FOREIGN
    for source in _sources(value, context):
        variables[part] = source
        away = _away(formula, Reader([*variables.values()], context), value)
        if away < nearest:
            near, nearest = source, away
        if not away:
            break
    variables[part] = near
    if near is not None:
        found.values[part.name] = near
    return near is not None


def _away(formula: Formula, reading: Reader, value: ir.Value) -> int:
    """How far a value is from a formula: 0 for not at all, `_FOREIGN` where it reads others too."""
    there = reading.of(value)
    if agrees(there, wanted(formula), rounding(value.dtype)):
        return 0
    if reading.stopped is not None:
        return _FOREIGN
    return CONDITION if same_terms(there, wanted(formula)) else OPERATOR


def _compare(
    formula: Formula,
    variables: list[ir.Value | None],
    value: ir.Value,
    found: Found,
    reader: ir.Node | None,
    context: Context,
) -> bool:
    """Note the nodes of a formula, and what of it is not as it should be."""
    reading = Reader(variables, context)
    there = reading.of(value)
    found.nodes.update(reading.nodes)
    if agrees(there, wanted(formula), rounding(value.dtype)):
        return True
    names = [_name(part) for part in atoms(formula)]
    inside = "" if reader is None else f" inside {reader.op_type}"
    texts = [p.spoken for p in parts(formula) if isinstance(p, Number) and p.text]
    told = f" ({', '.join(dict.fromkeys(texts))})" if texts else ""
    needs = f"{found.title} needs {written(wanted(formula), names)}{inside}{told}"
    weight = CONDITION if same_terms(there, wanted(formula)) else OPERATOR
    if there is not None:
        found.misses.append(Miss(needs, f"it is {written(there, names)}", (), weight))
    else:
        what = (
            f"it reads {spoken(reading.stopped)} too"
            if reading.stopped
            else "it is another function"
        )
        found.misses.append(Miss(needs, what, (), weight))
    return True


def _name(part: Term) -> str:
    return part.operators[0] if isinstance(part, Node) else getattr(part, "name", "it")


def _nearest(part: Term, last: ir.Node | None) -> ir.Value | None:
    """The nearest value above that may be a term, at first sight, through arithmetic alone."""
    possible = heads(part)
    front = [last]
    for _ in range(FORMULA_DEPTH):
        following: list[ir.Node | None] = []
        for node in front:
            if node is None or node.domain or node.op_type not in ARITHMETIC:
                continue
            for operand in node.inputs:
                if operand is None:
                    continue
                maker = operand.producer()
                if possible is None or (maker is not None and operator_of(maker) in possible):
                    return operand
                following.append(maker)
        front = following[:MOST_CANDIDATES]
    return None


def _sources(value: ir.Value, context: Context) -> Iterator[ir.Value]:
    """Values above that a formula may be about: those that something else reads too."""
    seen: set[ir.Value] = set()
    front = [value]
    for _ in range(FORMULA_DEPTH + 1):
        following: list[ir.Value] = []
        for each in front:
            for operand in _operands(each):
                if operand in seen or context.is_constant(operand):
                    continue
                seen.add(operand)
                following.append(operand)
                if use_count(operand) > 1:
                    yield operand
        front = following[:MOST_CANDIDATES]


def _operands(value: ir.Value) -> list[ir.Value]:
    """What the arithmetic that computes a value reads; nothing where something else computes it."""
    node = value.producer()
    if node is None or node.domain or node.op_type not in ARITHMETIC:
        return []
    return [operand for operand in node.inputs if operand is not None]
