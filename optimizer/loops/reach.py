"""What the loops that write outputs need of each Func, and which Funcs are worth keeping.

A Func that is not kept is computed wherever it is read. Reductions are kept, and so is what costs
much and is read from several places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.outputs import OutputNest
from optimizer.loops.scalar import (
    INDEX,
    Apply,
    Element,
    Number,
    Scalar,
    Var,
    parts_of,
    variables_of,
    with_indices,
)

_WEIGHTS = {"exp": 12, "log": 12, "erf": 20, "tanh": 20, "sin": 20, "cos": 20, "pow": 8} | {
    "div": 4, "sqrt": 4, "fmod": 20,
}  # fmt: skip
"""Instructions of functions that take more than one or two, roughly."""
KEPT_FROM = 4
"""Instructions a Func must have, with what is computed inside, for memory to be cheaper."""
WHOLE = 16
"""Elements: rows of a multiple of them end where a vector ends, whatever its length."""

Place = tuple[Scalar, ...]


@dataclass
class Reach:
    """What one nest of output loops needs.

    Attributes:
        inputs: names of the kernel's inputs.
        reads: by Func or input, which kept Func (or the nest) reads it, and where in its variables.
        kept: Funcs that are kept in memory, each after those that read it.
        places: of each kept Func, which loop of the nest each of its axes follows; None for an axis
            of which a round needs more than one place.
    """

    nest: OutputNest
    inputs: frozenset[str]
    reads: dict[str, dict[tuple[str, Place], None]] = field(
        default_factory=dict[str, dict[tuple[str, Place], None]]
    )
    kept: list[str] = field(default_factory=list[str])
    places: dict[str, dict[str, str | None]] = field(
        default_factory=dict[str, dict[str, str | None]]
    )

    def followed(self, func: str) -> frozenset[str]:
        """The loops of the nest that a kept Func follows."""
        return frozenset(one for one in self.places[func].values() if one)

    def stays_in(self, rows: Mapping[str, int], reader: str, axis: LoopAxis) -> bool:
        """Whether all that is read along an axis lies in rows of Funcs, place by place.

        Args:
            rows: by Func, its axis along which there is memory past the end.
            reader: a kept Func, or the nest.
            axis: of the reader.
        """
        for tensor, reads in self.reads.items():
            in_memory = tensor in self.kept or tensor in self.inputs
            for _, at in (one for one in reads if in_memory and one[0] == reader):
                along = [number for number, one in enumerate(at) if axis.name in variables_of(one)]
                if along and (along != [rows.get(tensor)] or at[along[0]] != axis.var):
                    return False
        return True


def reach_of(algorithm: Algorithm, nest: OutputNest, never: frozenset[str] = frozenset()) -> Reach:
    """Everything that a nest needs; what is in `never` is not kept but for reductions."""
    found = Reach(nest, frozenset(one.name for one in algorithm.inputs))
    here = tuple(axis.var for axis in nest.axes)
    found.reads.update({output: {(nest.name, here): None} for output in nest.outputs})
    costs = costs_of(algorithm)
    for func in reversed(algorithm.funcs):
        reads = found.reads.get(func.name)
        if reads is None:
            continue
        costly = len(reads) > 1 and costs[func.name] > _kept_from(func) and func.name not in never
        if func.name != nest.name and (func.reduction is not None or costly):
            found.kept.append(func.name)
            found.places[func.name] = dict(_places(found, func, reads))
            reads = {(func.name, tuple(axis.var for axis in func.axes)): None}
        for element in elements_of(func):
            known = found.reads.setdefault(element.tensor, {})
            known |= {(reader, _moved(element, func, at)): None for reader, at in reads}
    return found


def _kept_from(func: Func) -> int:
    """Instructions beyond which it is kept: any, where rows end inside a vector."""
    last = long_axes(func.axes)[-1:]
    ragged = any(isinstance(axis.extent, int) and axis.extent % WHOLE for axis in last)
    return 0 if ragged else KEPT_FROM


def elements_of(func: Func) -> Iterator[Element]:
    """What a Func reads."""
    return (part for part in parts_of(func.body) if isinstance(part, Element))


def costs_of(algorithm: Algorithm) -> Mapping[str, int]:
    """Instructions for an element of each Func, with what is no reduction computed inside."""
    found: dict[str, int] = {}
    for func in algorithm.funcs:
        total = 0
        for part in parts_of(func.body):
            if isinstance(part, Element):
                inner = algorithm.by_name.get(part.tensor)
                total += found[part.tensor] if inner and inner.reduction is None else 1
            elif isinstance(part, Apply) and part.dtype != INDEX:
                total += _WEIGHTS.get(part.function, 1)
        found[func.name] = total
    return found


def _moved(element: Element, func: Func, at: Place) -> Place:
    """Where an element lies, in the variables of whoever reads the Func at a place."""
    given = {axis.name: one for axis, one in zip(func.axes, at, strict=True)}
    return tuple(with_indices(one, given) for one in element.indices)


def _places(
    found: Reach, func: Func, reads: Mapping[tuple[str, Place], None]
) -> Iterator[tuple[str, str | None]]:
    for number, axis in enumerate(func.axes):
        if axis.extent == 1:
            continue
        told = {_loop(found, reader, at[number]) for reader, at in reads}
        yield axis.name, told.pop() if len(told) == 1 else None


def _loop(found: Reach, reader: str, at: Scalar) -> str | None:
    """The nest's loop whose variable an index is."""
    if not isinstance(at, Var):
        return None
    return at.name if reader == found.nest.name else found.places[reader].get(at.name)


def long_axes(axes: Sequence[LoopAxis]) -> list[LoopAxis]:
    """Those that are not surely of extent 1."""
    return [axis for axis in axes if axis.extent != 1]


def innermost(indices: Sequence[Scalar]) -> Scalar | None:
    """The index that moves along neighbours in memory; None where all are constants."""
    moving = [one for one in indices if not isinstance(one, Number)]
    return moving[-1] if moving else None
