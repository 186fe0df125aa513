"""What a text calls Funcs and loops, and what they are called here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from optimizer.loops.algorithm import Algorithm, LoopAxis
from optimizer.loops.outputs import output_nests
from optimizer.loops.scalar import FUNCTIONS


def plain_name(name: str) -> str:
    """A name that Halide takes, and takes for nothing else: its own functions have names, too."""
    return re.sub(r"\W", "_", f"{name}_" if name in FUNCTIONS else name)


def identifier(name: str) -> str:
    """A name of Halide's as it stands in a text: some of what writes them keeps `$`."""
    return re.sub(r"\W", "_", name)


@dataclass(frozen=True)
class SourceNames:
    """Identifiers, and what they are called here.

    Attributes:
        funcs: Funcs that a schedule may order.
        inputs: what reads inputs: a Func of Halide's own for each, which copies.
        parts: Funcs that are there in Halide alone, for parts of expressions.
        loops: by Func, here, and number of a nest.
    """

    funcs: Mapping[str, str]
    inputs: Mapping[str, str]
    parts: frozenset[str]
    loops: Mapping[tuple[str, int], Mapping[str, str]]


def source_names(algorithm: Algorithm, given: Iterable[str] = ()) -> SourceNames:
    """The identifiers that a text has for an algorithm.

    Args:
        algorithm: what is scheduled.
        given: names of all of Halide's Funcs, where they are known: to a name that was taken it
            adds a number, and what is no Func here is part of an expression.
    """
    loops: dict[tuple[str, int], Mapping[str, str]] = {}
    for func in algorithm.funcs:
        own = _axes(func.axes)
        loops[func.name, 0] = own
        if func.reduction is not None:
            loops[func.name, 1] = own | _reduced(func.reduction.axes)
    nests = {one.name: _axes(one.axes) for one in output_nests(algorithm)}
    for name, axes in nests.items():
        loops.setdefault((name, 0), axes)
    for tensor in algorithm.inputs:
        rank = len(tensor.shape)
        loops[tensor.name, 0] = {f"_{rank - 1 - axis}": f"a{axis}" for axis in range(rank)}
    funcs = {plain_name(name): name for name in (*algorithm.by_name, *nests)}
    inputs = {f"{plain_name(one.name)}_im": one.name for one in algorithm.inputs}
    plain = {name: name for name in (*funcs, *inputs)} | {re.sub(r"\$\d+$", "", one): one
                                                          for one in given}  # fmt: skip
    known = {identifier(halide): name for name, halide in plain.items()}
    elements = {f"{name}_element" for name in funcs}
    others = {one for one, name in known.items() if name not in funcs and name not in inputs}
    return SourceNames(
        {one: funcs[name] for one, name in known.items() if name in funcs},
        {one: inputs[name] for one, name in known.items() if name in inputs},
        frozenset(others | elements),
        loops,
    )


def _axes(axes: Sequence[LoopAxis]) -> dict[str, str]:
    return {plain_name(axis.name): axis.name for axis in axes}


def _reduced(axes: Sequence[LoopAxis]) -> dict[str, str]:
    """Halide calls a domain's variables by its name and a letter, the innermost first."""
    domain = plain_name("_".join(axis.name for axis in axes))
    letters = [*"xyzw", *(str(number) for number in range(4, len(axes)))]
    pairs = zip(letters, reversed(axes), strict=False)
    return {identifier(f"{domain}${letter}"): axis.name for letter, axis in pairs}
