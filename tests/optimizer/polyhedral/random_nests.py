"""Affine algorithms drawn at random, and single questions about the order of their loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Literal, get_args

import onnx_ir as ir

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis, Reduction
from optimizer.loops.formulas import add, mul
from optimizer.loops.scalar import Element, Scalar, apply, cast, index, parts_of
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeRoot,
    Parallel,
    Primitive,
    Reorder,
    Split,
    StoreAt,
    StoreRoot,
    Vectorize,
)
from optimizer.schedules.examples.example import FLOAT, beside, tensor
from optimizer.schedules.program import program_of

Question = Literal["interchange", "tiling", "fusion", "parallel"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
Source = Callable[..., Element]
_SIDE = 24
_TYPES = (FLOAT, FLOAT, ir.DataType.INT32)


def random_algorithm(random: Random) -> Algorithm:
    """One to four stages over an image: stencils, every other place, transposes, sums."""
    image = tensor("image", _SIDE, _SIDE)
    made: list[tuple[Source, tuple[int, int]]] = [
        (lambda *at: Element("image", at, FLOAT), (_SIDE, _SIDE))
    ]
    funcs: list[Func] = []
    for number in range(random.randint(1, 4)):
        source, extents = random.choice(made[-2:])
        draw = random.choice(
            (_stencil, _stencil, _every_other, _transposed, _window, _window, _product)
        )
        func = draw(f"f{number}", source, extents, random)
        if min(size for size in func.shape if isinstance(size, int)) < 3:
            continue
        funcs.append(func)
        made.append((_reading(func), (_number(func, 0), _number(func, 1))))
    if not funcs:
        funcs.append(_stencil("f0", *made[0], random))
    used = {part for func in funcs for part in _read(func)}
    outputs = tuple(func.name for func in funcs if func.name not in used)
    return Algorithm((image,), tuple(funcs), outputs)


def _read(func: Func) -> set[str]:
    return {part.tensor for part in parts_of(func.body) if isinstance(part, Element)}


def _reading(func: Func) -> Source:
    return lambda *at: func.at(at)


def _number(func: Func, axis: int) -> int:
    extent = func.shape[axis]
    assert isinstance(extent, int)
    return extent


def _axes(height: int, width: int) -> tuple[LoopAxis, LoopAxis]:
    return LoopAxis("y", height), LoopAxis("x", width)


def _stencil(name: str, source: Source, extents: tuple[int, int], random: Random) -> Func:
    reach = random.randint(0, 2), random.randint(0, 2)
    y, x = axes = _axes(extents[0] - reach[0], extents[1] - reach[1])
    places = [(0, 0), reach, (random.randint(0, reach[0]), random.randint(0, reach[1]))]
    read = [source(beside(y.var, dy), beside(x.var, dx)) for dy, dx in places]
    return Func(name, read[0].dtype, axes, add(*read))


def _every_other(name: str, source: Source, extents: tuple[int, int], _: Random) -> Func:
    y, x = axes = _axes(extents[0] // 2, extents[1])
    place = apply("mul", y.var, index(2))
    both = source(place, x.var), source(beside(place, 1), x.var)
    return Func(name, both[0].dtype, axes, add(*both))


def _transposed(name: str, source: Source, extents: tuple[int, int], _: Random) -> Func:
    y, x = axes = _axes(extents[1], extents[0])
    read = source(x.var, y.var)
    return Func(name, read.dtype, axes, add(read, read))


def _window(name: str, source: Source, extents: tuple[int, int], random: Random) -> Func:
    sides = random.choice((1, 2, 3, 3)), random.choice((2, 3))
    y, x = axes = _axes(extents[0] - sides[0] + 1, extents[1] - sides[1] + 1)
    along = LoopAxis("ky", sides[0]), LoopAxis("kx", sides[1])
    body: Scalar = source(apply("add", y.var, along[0].var), apply("add", x.var, along[1].var))
    return _sum(name, axes, body, along, random)


def _product(name: str, source: Source, extents: tuple[int, int], random: Random) -> Func:
    width = random.randint(4, 8)
    y, x = axes = _axes(extents[0], width)
    k = LoopAxis("k", extents[1])
    other = Element("image", (k.var, x.var), FLOAT)
    body = mul(cast(source(y.var, k.var), FLOAT), other)
    return _sum(name, axes, body, (k,), random)


def _sum(
    name: str,
    axes: tuple[LoopAxis, ...],
    body: Scalar,
    along: tuple[LoopAxis, ...],
    random: Random,
) -> Func:
    dtype = random.choice(_TYPES)
    return Func(name, dtype, axes, cast(body, dtype), Reduction("sum", along))


def random_question(algorithm: Algorithm, question: Question, random: Random) -> list[Primitive]:
    """Primitives whose legality hangs on one of them, the last."""
    return _DRAWS[question](algorithm, random)


def _rooted(algorithm: Algorithm, random: Random) -> tuple[list[Primitive], Func, int, list[str]]:
    """A Func with loops of its own, and one of its nests."""
    sums = [func for func in algorithm.funcs if func.reduction is not None]
    func = random.choice(sums if sums and random.random() < 0.8 else algorithm.funcs)
    outputs = program_of(algorithm, ()).outputs
    start: list[Primitive] = [] if func.name in outputs else [ComputeRoot(func.name)]
    nest = int(func.reduction is not None and random.random() < 0.8)
    along = func.reduction.axes if func.reduction is not None and nest else ()
    return start, func, nest, [axis.name for axis in (*func.axes, *along)]


def _interchange(algorithm: Algorithm, random: Random) -> list[Primitive]:
    start, func, nest, loops = _rooted(algorithm, random)
    some = random.sample(loops, random.randint(min(2, len(loops)), len(loops)))
    return [*start, Reorder(func.name, tuple(some), nest)]


def _tiling(algorithm: Algorithm, random: Random) -> list[Primitive]:
    start, func, nest, loops = _rooted(algorithm, random)
    split = random.sample(loops, random.randint(1, min(2, len(loops))))
    for name in split:
        factor = random.choice((1, 2, 3, 4, 8, 32))
        start.append(Split(func.name, name, f"{name}o", f"{name}i", factor, nest=nest))
    parts = [part for name in loops for part in _parts(name, name in split)]
    if random.random() < 0.5:
        parts.sort(key=lambda name: name[-1] == "i")
    else:
        random.shuffle(parts)
    return [*start, Reorder(func.name, tuple(parts), nest)]


def _parts(name: str, is_split: bool) -> tuple[str, ...]:
    return (f"{name}o", f"{name}i") if is_split else (name,)


def _fusion(algorithm: Algorithm, random: Random) -> list[Primitive]:
    outputs = program_of(algorithm, ()).outputs
    inner = [func.name for func in algorithm.funcs if func.name not in outputs]
    if not inner:
        return _tiling(algorithm, random)
    name = random.choice(inner)
    start: list[Primitive] = [
        ComputeRoot(one) for one in inner if one != name and random.random() < 0.6
    ]
    names = [func.name for func in algorithm.funcs]
    later = [*names[names.index(name) + 1 :], *outputs]
    reader = random.choice(later)
    loop = random.choice(_loops(algorithm, reader))
    found = [*start, ComputeAt(name, reader, loop)]
    if random.random() < 0.4:
        outer = _loops(algorithm, reader)[0]
        found.insert(-1, random.choice((StoreRoot(name), StoreAt(name, reader, outer))))
    return found


def _loops(algorithm: Algorithm, name: str) -> list[str]:
    known = program_of(algorithm, ()).by_name[name]
    stage = known.stages[-1]
    return [axis.name for axis in (*stage.axes, *stage.reduced)]


def _parallel(algorithm: Algorithm, random: Random) -> list[Primitive]:
    start: list[Primitive] = []
    if random.random() < 0.6:
        start = _fusion(algorithm, random)
    placed = [one for one in start if isinstance(one, ComputeAt)]
    kind = random.choice((Parallel, Parallel, Vectorize))
    if placed and random.random() < 0.7:
        reader = placed[-1].reader
        nest = len(program_of(algorithm, ()).by_name[reader].stages) - 1
        return [*start, kind(reader, random.choice(_loops(algorithm, reader)), nest)]
    more, func, nest, loops = _rooted(algorithm, random)
    return [*start, *more, kind(func.name, random.choice(loops), nest)]


_DRAWS: Mapping[Question, Callable[[Algorithm, Random], list[Primitive]]] = {
    "interchange": _interchange, "tiling": _tiling, "fusion": _fusion, "parallel": _parallel,
}  # fmt: skip
