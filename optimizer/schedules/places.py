"""What one element of a Func reads of every other tensor, through Funcs computed where it is read.

A place is one index for each axis, each a sum of multiples of the reader's loop variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import LoopAxis
from optimizer.loops.indexing import Affine, affine
from optimizer.loops.scalar import Element, Scalar, Var, parts_of, with_indices
from optimizer.schedules.program import Program, Stage, extent_of

Terms = tuple[tuple[Scalar, int], ...]
"""Multiples of variables, or of whatever is no sum, in an order that equal sums share."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A constant and multiples."""

    constant: int
    terms: Terms

    def scalar(self) -> Scalar:
        """The expression."""
        return Affine(self.constant, dict(self.terms)).scalar()


Place = tuple[Sum, ...]
Places = Mapping[str, Mapping[Place, None]]
"""By tensor, in the order of reading; a place that is read twice stands once."""


def sum_of(scalar: Scalar, axes: Sequence[LoopAxis]) -> Sum:
    """An index of a body as a sum."""
    found = affine(scalar, {axis.name: extent_of(axis) for axis in axes})
    return _sum(found)


def _sum(form: Affine) -> Sum:
    assert isinstance(form.constant, int), "programs have sizes that are numbers"
    terms = [(atom, factor) for atom, factor in form.factors.items() if isinstance(factor, int)]
    if len(terms) > 1:
        terms.sort(key=lambda term: str(term[0]))
    return Sum(form.constant, tuple(terms))


Spans = tuple[Mapping[Terms, tuple[int, int]], ...]
"""For each axis, sums that are read there: by their terms, the least and the greatest constant."""


class Reading:
    """Places that stages read; each Func is asked once.

    Args:
        program: whose.
        inlined: names of the Funcs that are computed where they are read.
    """

    def __init__(self, program: Program, inlined: frozenset[str]) -> None:
        self._program, self._inlined = program, inlined
        self._known: dict[tuple[str, int], Places] = {}
        self._spans: dict[tuple[str, int], dict[str, Spans]] = {}
        self._groups: dict[tuple[str, int, str], list[Spans]] = {}

    def of(self, stage: Stage) -> Places:
        """What an element of a stage reads, in variables of its axes.

        Funcs that are computed there are in it, and so is what they read.
        """
        key = stage.func, stage.number
        if key not in self._known:
            self._known[key] = self._read(stage)
        return self._known[key]

    def spans(self, stage: Stage, tensor: str) -> Spans:
        """What an element of a stage reads of a tensor, as a box."""
        known = self._spans.setdefault((stage.func, stage.number), {})
        if tensor not in known:
            places = list(self.of(stage)[tensor])
            known[tensor] = tuple(_span(axis) for axis in zip(*places, strict=True))
        return known[tensor]

    def groups(self, stage: Stage, tensor: str) -> list[Spans]:
        """The same as one box for each way in which indices are made of variables."""
        key = stage.func, stage.number, tensor
        if key not in self._groups:
            alike: dict[tuple[Terms, ...], list[Place]] = {}
            for place in self.of(stage)[tensor]:
                alike.setdefault(tuple(one.terms for one in place), []).append(place)
            self._groups[key] = [
                tuple(_span(axis) for axis in zip(*places, strict=True))
                for places in alike.values()
            ]
        return self._groups[key]

    def _read(self, stage: Stage) -> Places:
        found: dict[str, dict[Place, None]] = {}
        axes = (*stage.axes, *stage.reduced)
        elements = {
            part for body in stage.bodies for part in parts_of(body) if isinstance(part, Element)
        }
        for element in sorted(elements, key=str):
            place = tuple(sum_of(one, axes) for one in element.indices)
            found.setdefault(element.tensor, {})[place] = None
            if element.tensor not in self._inlined:
                continue
            inner = self._program.by_name[element.tensor].stages[0]
            given = {axis.name: one for axis, one in zip(inner.axes, place, strict=True)}
            for tensor, places in self.of(inner).items():
                known = found.setdefault(tensor, {})
                known |= {tuple(_moved(one, given) for one in place): None for place in places}
        return found


def _span(sums: Sequence[Sum]) -> Mapping[Terms, tuple[int, int]]:
    found: dict[Terms, tuple[int, int]] = {}
    for one in sums:
        low, high = found.get(one.terms, (one.constant, one.constant))
        found[one.terms] = min(low, one.constant), max(high, one.constant)
    return found


def _moved(index: Sum, given: Mapping[str, Sum]) -> Sum:
    """An index with sums in place of variables."""
    total = Affine(index.constant)
    for atom, factor in index.terms:
        if isinstance(atom, Var):
            other = given[atom.name]
            total = total.plus(Affine(other.constant, dict(other.terms)), factor)
        else:
            moved = with_indices(atom, {name: one.scalar() for name, one in given.items()})
            total = total.plus(Affine(0, {moved: 1}), factor)
    return _sum(total)
