"""The Funcs that a schedule has loops for, each with its stages.

Besides an algorithm's own: copies of inputs (`In`), partial results side by side and what combines
them (`RFactor`), and the loops that copy outputs which others read, too. Sizes are numbers here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis
from optimizer.loops.outputs import OutputNest, output_nests
from optimizer.loops.scalar import (
    Apply,
    Element,
    Scalar,
    apply,
    index,
    parts_of,
    rewritten,
    with_indices,
)
from optimizer.loops.schedule import In, Primitive, RFactor, ScheduleError, Split


@dataclass(frozen=True, slots=True)
class Stage:
    """One nest of a Func.

    Attributes:
        number: 0 gives every element its first value, 1 combines.
        axes: the Func's.
        reduced: further axes that it combines along.
        bodies: what it computes, for what it reads.
    """

    func: str
    number: int
    axes: tuple[LoopAxis, ...]
    reduced: tuple[LoopAxis, ...]
    bodies: tuple[Scalar, ...]

    @property
    def operations(self) -> int:
        """Arithmetic on elements for one of its own: additions, products, and so on.

        Combining is one more, though bodies do not have it.
        """
        if not self.bodies:
            return 0
        applied = {
            part
            for body in self.bodies
            for part in parts_of(body)
            if isinstance(part, Apply) and part.dtype == self.bodies[0].dtype
        }
        return max(len(applied) + bool(self.reduced), 1)


@dataclass(frozen=True, slots=True)
class LoopFunc:
    """A Func that may have loops.

    Attributes:
        element_bytes: of one place of it.
        stages: one, or two where it reduces.
        is_exact: whether combining in another order gives the same.
        inside: where it is computed, whatever the schedule says: innermost in this Func.
    """

    name: str
    axes: tuple[LoopAxis, ...]
    element_bytes: int
    stages: tuple[Stage, ...]
    is_exact: bool = True
    inside: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of its axes."""
        return tuple(extent_of(axis) for axis in self.axes)

    @property
    def reduces(self) -> bool:
        """Whether it combines along further axes."""
        return len(self.stages) > 1


def extent_of(axis: LoopAxis) -> int:
    """Its extent, which is a number."""
    assert isinstance(axis.extent, int), "programs have sizes that are numbers"
    return axis.extent


@dataclass(frozen=True)
class Program:
    """All of them.

    Attributes:
        algorithm: what they compute.
        inputs: shapes of what is read.
        input_bytes: of an element of each input.
        funcs: each after those that it reads.
        outputs: names of Funcs whose loops write outputs.
        consumed: numbers of primitives that are in the Funcs already.
    """

    algorithm: Algorithm
    inputs: Mapping[str, tuple[int, ...]]
    input_bytes: Mapping[str, int]
    funcs: tuple[LoopFunc, ...]
    outputs: tuple[str, ...]
    consumed: frozenset[int]

    @cached_property
    def by_name(self) -> Mapping[str, LoopFunc]:
        """The Funcs."""
        return {func.name: func for func in self.funcs}

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Of an input or of a Func."""
        return self.inputs[tensor] if tensor in self.inputs else self.by_name[tensor].shape

    def element_bytes(self, tensor: str) -> int:
        """Of an input or of a Func."""
        known = self.input_bytes.get(tensor)
        return self.by_name[tensor].element_bytes if known is None else known


def program_of(algorithm: Algorithm, primitives: Sequence[Primitive]) -> Program:
    """The Funcs that these primitives order.

    Raises:
        ScheduleError: one of them asks for a Func that cannot be, or sizes are no numbers.
    """
    _refuse_free_sizes(algorithm)
    lanes, consumed = _lanes(algorithm, primitives)
    nests = output_nests(algorithm)
    copies = _Copies(algorithm, primitives)
    shapes = {one.name: numbers_of(one.shape) for one in algorithm.inputs}
    sizes = {one.name: one.dtype.bitwidth // 8 or 1 for one in algorithm.inputs}
    funcs = [copy for one in algorithm.inputs for copy in copies.of(one)]
    for func in algorithm.funcs:
        funcs += _stages(copies.read_by(func), lanes.get(func.name))
        funcs += copies.of(func)
    known = {func.name for func in funcs}
    funcs += [_copying(algorithm, nest, copies) for nest in nests if nest.name not in known]
    outputs = tuple(nest.name for nest in nests)
    return Program(algorithm, shapes, sizes, tuple(funcs), outputs, copies.numbers | consumed)


class _Copies:
    """Funcs through which others read a tensor: for all of them, and of that for single ones.

    Attributes:
        numbers: of the primitives that ask for them.

    Raises:
        ScheduleError: a copy is for a Func that does not read the tensor.
    """

    def __init__(self, algorithm: Algorithm, primitives: Sequence[Primitive]) -> None:
        nests = output_nests(algorithm)
        between = {one.name for one in (*algorithm.inputs, *algorithm.funcs)}
        between -= {nest.name for nest in nests}
        found = [
            (number, one)
            for number, one in enumerate(primitives)
            if isinstance(one, In) and one.func in between
        ]
        for number, one in found:
            readers = {reader.name for reader, _ in algorithm.readers(one.func)}
            readers |= {nest.name for nest in nests if one.func in nest.outputs}
            if one.reader and one.reader not in readers:
                raise ScheduleError(
                    number, f"{one.reader} does not read {one.func}: a copy for it has no reader"
                )
        self.numbers = frozenset(number for number, _ in found)
        self._copies = sorted((one for _, one in found), key=lambda one: one.reader != "")
        self._made: dict[tuple[str, str], str] = {}

    def of(self, tensor: InputTensor | Func) -> Iterator[LoopFunc]:
        """Those of a tensor, each after what it copies."""
        axes = tuple(LoopAxis(f"a{number}", size) for number, size in enumerate(tensor.shape))
        size = max(tensor.dtype.bitwidth // 8, 1)
        for one in self._copies:
            if one.func == tensor.name:
                source = self.read(tensor.name, one.reader)
                body = Element(source, tuple(axis.var for axis in axes), tensor.dtype)
                yield LoopFunc(one.made, axes, size, (Stage(one.made, 0, axes, (), (body,)),))
                self._made[tensor.name, one.reader] = one.made

    def read(self, tensor: str, reader: str) -> str:
        """What a Func reads in place of a tensor."""
        return self._made.get((tensor, reader), self._made.get((tensor, ""), tensor))

    def read_by(self, func: Func) -> Func:
        """A Func that reads copies."""
        if not self.numbers:
            return func

        def change(part: Scalar) -> Scalar:
            if isinstance(part, Element):
                return replace(part, tensor=self.read(part.tensor, func.name))
            return part

        return replace(func, body=rewritten(func.body, change))


def _refuse_free_sizes(algorithm: Algorithm) -> None:
    extents: list[Dimension] = [size for one in algorithm.inputs for size in one.shape]
    for func in algorithm.funcs:
        extents += [one.extent for one in (*func.axes, *_reduced(func))]
    free = next((str(extent) for extent in extents if not isinstance(extent, int)), None)
    if free is not None:
        raise ScheduleError(None, f"{free} is no number, and its loops are drawn for numbers")


def numbers_of(shape: Sequence[Dimension]) -> tuple[int, ...]:
    """A shape whose sizes are numbers."""
    return tuple(size for size in shape if isinstance(size, int))


def _reduced(func: Func) -> tuple[LoopAxis, ...]:
    return func.reduction.axes if func.reduction else ()


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Partial results side by side: the split of the reduction, and what is made of it."""

    split: Split
    made: RFactor


def _lanes(
    algorithm: Algorithm, primitives: Sequence[Primitive]
) -> tuple[Mapping[str, _Lanes], frozenset[int]]:
    """By Func, and the primitives that say so.

    Raises:
        ScheduleError: a primitive asks for lanes that cannot be.
    """
    splits: dict[tuple[str, str], tuple[int, Split]] = {}
    found: dict[str, _Lanes] = {}
    consumed: set[int] = set()
    for number, one in enumerate(primitives):
        if isinstance(one, Split) and one.nest == 1:
            splits[one.func, one.inner] = number, one
        if not isinstance(one, RFactor):
            continue
        func = algorithm.by_name.get(one.func)
        at, split = splits.get((one.func, one.loop), (-1, None))
        names = {axis.name for axis in _reduced(func)} if func else set[str]()
        if split is None or split.loop not in names:
            raise ScheduleError(number, f"{one.loop} is no inner loop of a split reduction")
        if one.func in found:
            raise ScheduleError(number, f"{one.func} has partial results already")
        found[one.func] = _Lanes(split, one)
        consumed |= {at, number}
    return found, frozenset(consumed)


def _stages(func: Func, lanes: _Lanes | None) -> list[LoopFunc]:
    size = max(func.dtype.bitwidth // 8, 1)
    if func.reduction is None:
        stage = Stage(func.name, 0, func.axes, (), (func.body,))
        return [LoopFunc(func.name, func.axes, size, (stage,))]
    if lanes is not None:
        return _in_lanes(func, lanes, size)
    exact = func.dtype.is_integer()
    first = Stage(func.name, 0, func.axes, (), ())
    second = Stage(func.name, 1, func.axes, func.reduction.axes, (func.body,))
    return [LoopFunc(func.name, func.axes, size, (first, second), exact)]


def _in_lanes(func: Func, lanes: _Lanes, size: int) -> list[LoopFunc]:
    """Partial results, those of half as many down to one, and the Func, which reads the last.

    Of their rounds those of the split axis are the inner ones, as Halide is given them.
    """
    split, made, lane = lanes.split, lanes.made.made, lanes.made.axis
    axes = (*func.axes, LoopAxis(lane, split.factor))
    rounds = {axis.name: axis for axis in _reduced(func)}
    outer = LoopAxis(split.outer, -(-extent_of(rounds.pop(split.loop)) // split.factor))
    reduced = (*rounds.values(), outer)
    place = apply("mul", LoopAxis(split.outer, 0).var, index(split.factor))
    body = with_indices(func.body, {split.loop: apply("add", place, axes[-1].var)})
    stages = Stage(made, 0, axes, (), ()), Stage(made, 1, axes, reduced, (body,))
    found = [LoopFunc(made, axes, size, stages, is_exact=False)]
    own, count = tuple(axis.var for axis in func.axes), split.factor
    while count > 1:
        count //= 2
        name, wide = f"{made}_{count}", (*func.axes, LoopAxis(lane, count))
        first = Element(found[-1].name, (*own, wide[-1].var), func.dtype)
        other = replace(first, indices=(*own, apply("add", wide[-1].var, index(count))))
        stage = Stage(name, 0, wide, (), (apply("add", first, other),))
        found.append(LoopFunc(name, wide, size, (stage,), inside=func.name))
    last = Element(found[-1].name, (*own, index(0)), func.dtype)
    found.append(
        LoopFunc(func.name, func.axes, size, (Stage(func.name, 0, func.axes, (), (last,)),))
    )
    return found


def _copying(algorithm: Algorithm, nest: OutputNest, copies: _Copies) -> LoopFunc:
    funcs = [algorithm.by_name[name] for name in nest.outputs]
    here = tuple(axis.var for axis in nest.axes)
    bodies = tuple(
        replace(func.at(here), tensor=copies.read(func.name, nest.name)) for func in funcs
    )
    size = sum(max(func.dtype.bitwidth // 8, 1) for func in funcs)
    return LoopFunc(nest.name, nest.axes, size, (Stage(nest.name, 0, nest.axes, (), bodies),))
