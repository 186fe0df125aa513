"""Finds a pattern above a node, or says what is missing. Changes nothing.

The search goes from the last node up, along the pattern: every term is looked at once, twice below
operands that may be swapped and both look right. Where something is not as it should be it goes
on, so that all of a near miss is known; it ends where a node of the pattern's core is not there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import onnx_ir as ir

from optimizer.patterns import formulas
from optimizer.patterns.found import MOST_WEIGHT, OPERATOR, Found, Miss, spoken
from optimizer.patterns.pattern import has_core, heads, needed
from optimizer.patterns.polynomials import rounding
from optimizer.patterns.terms import Condition, Either, Formula, Node, Number, Term, Value
from optimizer.rules import Context, operator_of

MOST_STEPS = 400
"""Terms looked at for one node of the graph."""


class Matcher:
    """One search for one pattern."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.steps = 0

    def look(
        self, term: Term, value: ir.Value | None, found: Found, reader: ir.Node | None
    ) -> bool:
        """Match a term with a value that `reader` reads; whether it is worth going on."""
        self.steps += 1
        if self.steps > MOST_STEPS or (found.misses and found.weight > MOST_WEIGHT):
            return False
        match term:
            case Node():
                return self._node(term, value, found, reader)
            case Either():
                return self._either(term, value, found, reader)
            case Value():
                return self._value(term, value, found, reader)
            case Number():
                return self._number(term, value, found, reader)
            case Formula():
                return value is not None and formulas.look(self, term, value, found, reader)

    def fits(self, term: Term, value: ir.Value | None, found: Found) -> bool:
        """Whether a value may be a term, at first sight."""
        if isinstance(term, Value):
            return value is not None and found.values.get(term.name, value) is value
        if isinstance(term, Number):
            return self.context.scalar(value) is not None
        wanted = heads(term)
        producer = None if value is None else value.producer()
        return wanted is None or (producer is not None and operator_of(producer) in wanted)

    def _value(
        self, term: Value, value: ir.Value | None, found: Found, reader: ir.Node | None
    ) -> bool:
        known = found.values.setdefault(term.name, value) if value is not None else None
        if value is None or known is not value:
            needs = f"{_of(reader, found)} reads the same {term.name} again"
            return _miss(found, needs, f"it reads {spoken(value)}", reader, weight=OPERATOR)
        hold(term.where, found, self.context)
        return True

    def _number(
        self, term: Number, value: ir.Value | None, found: Found, reader: ir.Node | None
    ) -> bool:
        number = self.context.scalar(value)
        needs = f"{_of(reader, found)} needs the number {term.spoken}"
        if number is None:
            return _miss(found, needs, f"it reads {spoken(value)}", reader, weight=OPERATOR)
        if term.name:
            found.numbers[term.name] = float(number)
        wanted = term.value
        if wanted is not None and abs(number - wanted) > abs(wanted) * _slack(term, value):
            return _miss(found, needs, f"it is {number:.6g}", reader)
        return True

    def _either(
        self, term: Either, value: ir.Value | None, found: Found, reader: ir.Node | None
    ) -> bool:
        """The first spelling that fits, else the one that gets farthest."""
        fitting = [each for each in term.alternatives if self.fits(each, value, found)]
        if len(fitting) > 1:  # a way without its core is not worth a trial
            fitting = [each for each in fitting if _may_have_core(each, value)] or fitting[:1]
        if len(fitting) < 2:
            return self.look(fitting[0] if fitting else term.alternatives[0], value, found, reader)
        ways = [functools.partial(self.look, each, value, reader=reader) for each in fitting]
        return _best(ways, found)

    def _node(
        self, term: Node, value: ir.Value | None, found: Found, reader: ir.Node | None
    ) -> bool:
        producer = None if value is None else value.producer()
        fits = self.fits(term, value, found)
        if producer is None or not fits or producer.outputs[0] is not value:
            if has_core(term):
                return False
            needs = f"{_of(reader, found)} reads {' or '.join(term.operators)}"
            return _miss(found, needs, f"it reads {spoken(value)}", reader, weight=OPERATOR)
        if (term, producer) in found.seen:
            return True
        if not _has_core_above(term, producer):
            return False
        found.seen.add((term, producer))
        found.nodes[producer] = None
        if term.name and found.named.setdefault(term.name, producer) is not producer:
            needs = f"{_of(reader, found)} reads the same {producer.op_type} again"
            return _miss(found, needs, f"it reads {spoken(value)}", reader, weight=OPERATOR)
        self._settings(term, producer, found)
        hold(term.where, found, self.context)
        return self._operands(term, producer, found)

    def _settings(self, term: Node, node: ir.Node, found: Found) -> None:
        for name, wanted in term.settings.items():
            there = self.context.attribute(node, name)
            there = there.decode() if isinstance(there, bytes) else there
            close = isinstance(there, float) and abs(there - float(wanted)) <= 1e-6
            if there != wanted and not close:
                needs = f"{node.op_type} has {name} {_plain(wanted)}"
                found.misses.append(Miss(needs, f"it is {_plain(there)}", (node,)))

    def _operands(self, term: Node, node: ir.Node, found: Found) -> bool:
        count = len(term.inputs)
        values = [*node.inputs, *[None] * (count - len(node.inputs))]
        known = {each.index for each in term.parameters}
        rest = enumerate(values[count:], start=count)
        extra = [value for i, value in rest if value is not None and i not in known]
        if extra:
            return _miss(
                found, f"{node.op_type} has {count} inputs",
                f"it reads {spoken(extra[0])} too", node, weight=OPERATOR,
            )  # fmt: skip
        given = values[:count]
        if not term.commutes or values[0] is values[1]:
            return self._all(term, given, node, found)
        orders = (given, given[::-1])
        fitting = [order for order in orders if self._all_fit(term, order, found)]
        ways = [functools.partial(self._all, term, order, node) for order in fitting or orders]
        return _best(ways, found)

    def _all_fit(self, term: Node, values: Sequence[ir.Value | None], found: Found) -> bool:
        pairs = zip(term.inputs, values, strict=True)
        return all(self.fits(each, value, found) for each, value in pairs)

    def _all(
        self, term: Node, values: Sequence[ir.Value | None], node: ir.Node, found: Found
    ) -> bool:
        pairs = zip(term.inputs, values, strict=True)
        return all(self.look(each, value, found, node) for each, value in pairs)


def may_end(term: Term, node: ir.Node) -> bool:
    """Whether a node may be the last one of a term, at first sight."""
    if isinstance(term, Node):
        return _has_core_above(term, node)
    if isinstance(term, Formula):
        return formulas.may_end(term, node)
    if not isinstance(term, Either):
        return True
    operator = operator_of(node)
    known = [(each, heads(each)) for each in term.alternatives]
    fitting = [each for each, wanted in known if wanted is None or operator in wanted]
    return not fitting or any(may_end(each, node) for each in fitting)


def _may_have_core(term: Term, value: ir.Value | None) -> bool:
    """Whether a term that fits a value may be there, at second sight."""
    node = None if value is None else value.producer()
    return node is None or not isinstance(term, Node) or _has_core_above(term, node)


def _has_core_above(term: Node, node: ir.Node) -> bool:
    """Whether the operands of a node may hold what the core of a pattern needs, at first sight."""
    wanted = needed(term)
    if not wanted:
        return True
    operators = {
        operator_of(maker)
        for value in node.inputs
        if value is not None and (maker := value.producer()) is not None
    }
    return not any([operators.isdisjoint(each) for each in wanted])


def _best(ways: Sequence[Callable[[Found], bool]], found: Found) -> bool:
    """Go the first way that misses nothing, else the one that gets farthest."""
    if len(ways) == 1:
        return ways[0](found)
    best: Found | None = None
    before = found.weight
    for way in ways:
        trial = found.copy()
        if not way(trial):
            continue
        if best is None or trial.distance < best.distance:
            best = trial
        if trial.weight == before:
            break
    if best is not None:
        found.take(best)
    return best is not None


def _miss(found: Found, needs: str, there: str, node: ir.Node | None, weight: int = 1) -> bool:
    """Note what is not as it should be, and go on."""
    found.misses.append(Miss(needs, there, () if node is None else (node,), weight))
    return True


def _of(reader: ir.Node | None, found: Found) -> str:
    """Whose operand it is: an operator, at the root the pattern."""
    return found.title if reader is None else reader.op_type


def _slack(term: Number, value: ir.Value | None) -> float:
    """How far off a number may be: not at all where every type can say it."""
    assert term.value is not None
    exact = float(np.float16(term.value)) == term.value
    return 0.0 if exact else rounding(None if value is None else value.dtype)


def _plain(value: object) -> str:
    """An attribute for people: "0,2,1,3"."""
    if isinstance(value, list | tuple):
        return ",".join(str(each) for each in cast("list[object]", value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return "not set" if value is None else str(value)


def hold(conditions: tuple[Condition, ...], found: Found, context: Context) -> None:
    """Note the first condition that fails. What misses something is not asked: it may lack more."""
    for condition in conditions:
        if found.misses:
            return
        there = condition.check(found, context)
        if there is not None:
            found.misses.append(Miss(condition.needs, there))
