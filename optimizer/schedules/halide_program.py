"""An algorithm and its schedule as a program in Halide's Python or C++, which runs elsewhere.

What is exported is plain Halide: products and sums may be contracted there, and NaN is not minded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis, Reduction
from optimizer.loops.outputs import OutputNest, output_nests
from optimizer.loops.schedule import In, Schedule
from optimizer.schedules.halide_directives import directive
from optimizer.schedules.halide_mains import cpp_program, python_main
from optimizer.schedules.halide_names import Names
from optimizer.schedules.halide_words import Language, NoProgram, Words, type_names
from optimizer.schedules.program import extent_of, numbers_of

_FIRST = {"sum": 0.0, "product": 1.0, "max": -math.inf, "min": math.inf}


def halide_program(algorithm: Algorithm, schedule: Schedule, language: Language) -> str:
    """A program that computes the algorithm in the order of the schedule, on numbers of its own.

    Args:
        algorithm: of sizes that are numbers.
        schedule: that can be applied.
        language: which of Halide's.

    Raises:
        NoProgram: an element type or a function has no words there, or there are several outputs.
    """
    nests = output_nests(algorithm)
    if len(nests) != 1 or len(nests[0].outputs) != 1:
        raise NoProgram("Only kernels with one output are exported as a program.")
    return "\n".join(_Writer(algorithm, schedule, language).lines(nests[0])) + "\n"


class _Writer:
    """Lines of a program."""

    def __init__(self, algorithm: Algorithm, schedule: Schedule, language: Language) -> None:
        self._algorithm, self._schedule = algorithm, schedule
        self._words = Words(python=language == "python")
        self._names = Names(self._words)
        self._reading: dict[str, str] = {}

    def lines(self, nest: OutputNest) -> Iterator[str]:
        """All of them."""
        words = self._words
        body = [*self._inputs(), "", words.comment("What is computed.")]
        body += [line for func in self._algorithm.funcs for line in self._defined(func)]
        if nest.name not in self._algorithm.by_name:
            body += self._copied(nest.name, nest.axes, nest.outputs[0])
        body += ["", words.comment("In which order."), *self._ordered(nest)]
        declared = [*self._names.declared, *body]
        inputs, output = self._named_inputs(), self._names.func(nest.name)
        shape = [extent_of(axis) for axis in nest.axes]
        dtype = self._algorithm.by_name[nest.outputs[0]].dtype
        if words.python:
            yield from ["import halide as hl", "import numpy as np", "", *declared, ""]
            yield from python_main(inputs, output, shape, dtype)
        else:
            yield from cpp_program(declared, inputs, output, shape, dtype)

    def _named_inputs(self) -> list[tuple[str, InputTensor]]:
        return [(self._names.func(one.name), one) for one in self._algorithm.inputs]

    def _inputs(self) -> Iterator[str]:
        words = self._words
        for name, one in self._named_inputs():
            kind = words.named(type_names(one.dtype)[0])
            yield words.made("ImageParam", name, [kind, str(len(one.shape)), f'"{name}"'])
            for axis, size in enumerate(reversed(numbers_of(one.shape))):
                yield words.line(f"{name}.dim({axis}).set_bounds(0, {size})")
            self._reading[one.name] = name
        ranks = {one.name: len(one.shape) for one in self._algorithm.inputs}
        for primitive in self._schedule.primitives:
            if isinstance(primitive, In):
                axes = tuple(LoopAxis(f"a{number}", 1) for number in range(ranks[primitive.func]))
                yield from self._copied(primitive.made, axes, primitive.func)
                self._reading[primitive.func] = self._names.func(primitive.made)

    def _copied(self, made: str, axes: Sequence[LoopAxis], source: str) -> Iterator[str]:
        """A Func that is another one, or an input."""
        words, name = self._words, self._names.func(made)
        places = self._names.placed(made, axes).values()
        yield words.made("Func", name, [f'"{name}"'])
        yield words.line(f"{words.at(name, places)} = {words.at(self._reading[source], places)}")
        self._reading[made] = name

    def _defined(self, func: Func) -> Iterator[str]:
        words, name = self._words, self._names.func(func.name)
        places = self._names.placed(func.name, func.axes)
        left = words.at(name, places.values())
        yield words.made("Func", name, [f'"{name}"'])
        self._reading[func.name] = name
        if func.reduction is None:
            yield words.line(f"{left} = {words.value(func.body, places, self._reading)}")
        else:
            yield from self._reduced(func, func.reduction, left, places)

    def _reduced(
        self, func: Func, reduction: Reduction, left: str, places: Mapping[str, str]
    ) -> Iterator[str]:
        """A first value, and what combines."""
        words, kind = self._words, reduction.kind
        if kind not in _FIRST:
            raise NoProgram(f"Programs in Halide are not written for reductions by {kind}.")
        domain, last = self._names.domain(func.name), len(reduction.axes) - 1
        ranges = [
            f"{'' if words.python else 'Range'}(0, {extent_of(axis)})"
            for axis in reversed(reduction.axes)
        ]
        inner = ", ".join(ranges)
        yield words.made("RDom", domain, [f"[{inner}]" if words.python else f"Region{{{inner}}}"])
        rounds = {axis.name: f"{domain}[{last - at}]" for at, axis in enumerate(reduction.axes)}
        inside = {**places, **rounds}
        self._names.loops[func.name, 1] = dict(inside)
        yield words.line(f"{left} = {words.number(_FIRST[kind], func.dtype)}")
        value = words.value(func.body, inside, self._reading)
        if kind in ("max", "min"):
            yield words.line(f"{left} = {words.named(kind)}({left}, {value})")
        else:
            yield words.line(f"{left} {'+' if kind == 'sum' else '*'}= {value}")

    def _ordered(self, nest: OutputNest) -> Iterator[str]:
        names, words = self._names, self._words
        for axis, size in enumerate(reversed([extent_of(axis) for axis in nest.axes])):
            bounds = f"output_buffer().dim({axis}).set_bounds(0, {size})"
            yield words.line(f"{names.func(nest.name)}.{bounds}")
        for func in self._algorithm.funcs:
            if func.reduction is not None:
                yield words.line(f"{names.func(func.name)}.compute_root()")
        for primitive in self._schedule.primitives:
            if not isinstance(primitive, In):
                yield words.line(directive(primitive, names, words))
