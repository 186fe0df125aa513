"""The loops that write a kernel's outputs.

An output that is a Func of one expression, and that no other Func reads, is written by its own
loops. All others are copied by loops of their own once they are computed: that way a reduction, or
what is read again, can be computed bit by bit inside. Outputs of one shape that follow each other
share their loops, an element of each in a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from optimizer.loops.algorithm import Algorithm, LoopAxis


@dataclass(frozen=True, slots=True)
class OutputNest:
    """Loops that write outputs.

    Attributes:
        name: what schedules call them: an output's name, or one made of the first one's.
        outputs: names of Funcs.
        axes: those of the first.
    """

    name: str
    outputs: tuple[str, ...]
    axes: tuple[LoopAxis, ...]


def output_nests(algorithm: Algorithm) -> tuple[OutputNest, ...]:
    """The loops that write outputs, in the outputs' order."""
    groups = groupby(algorithm.outputs, lambda name: algorithm.by_name[name].shape)
    return tuple(_nest(algorithm, list(names)) for _, names in groups)


def _nest(algorithm: Algorithm, names: list[str]) -> OutputNest:
    first = algorithm.by_name[names[0]]
    alone = len(names) == 1 and first.reduction is None and not _is_read(algorithm, first.name)
    name = first.name if alone else _unused(f"{first.name}_out", algorithm)
    return OutputNest(name, tuple(names), first.axes)


def _is_read(algorithm: Algorithm, name: str) -> bool:
    return next(iter(algorithm.readers(name)), None) is not None


def _unused(wish: str, algorithm: Algorithm) -> str:
    taken = {one.name for one in (*algorithm.inputs, *algorithm.funcs)}
    while wish in taken:
        wish += "_"
    return wish
