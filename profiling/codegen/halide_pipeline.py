"""An algorithm as a Halide pipeline; `halide_schedule` orders its loops.

Halide names axes from the innermost outwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm, Func, LoopAxis, extent_scalar
from optimizer.loops.indexing import extents_of
from optimizer.loops.outputs import OutputNest, output_nests
from optimizer.loops.quotients import with_divisors_written_out
from optimizer.loops.scalar import variables_of
from optimizer.loops.schedule import In, Schedule
from profiling.codegen.halide_bindings import Expr, hl
from profiling.codegen.halide_naming import plain_name
from profiling.codegen.halide_reductions import (
    Lanes,
    accumulator_type,
    combined,
    halves,
    identity,
    partial_results,
)
from profiling.codegen.halide_scalars import Body, needs_stages, stored, stored_type
from profiling.codegen.halide_stages import Stages, needs_strict_target, strict
from profiling.codegen.kernel import CpuLevel, KernelRefused

MAX_ELEMENTS = 2**31 - 1
"""Of a tensor: places in it are 32-bit integers."""


@dataclass(frozen=True)
class LoopNests:
    """A Func of Halide's, and the loops of each of its nests by name."""

    func: Any
    loops: tuple[dict[str, Any], ...]


class HalidePipeline:
    """The Funcs of an algorithm in Halide, their loops not yet ordered.

    Attributes:
        params: the inputs.
        nests: by name of a Func, or of what gives outputs.
        halves: of a reduction by lanes, what combines its partial results, in order.
        reductions: Funcs that are computed as a whole where nothing else is said.
        outputs: in order.
        consumed: numbers of the schedule's primitives that the definitions follow already.
        needs_gpu: whether the schedule is for a GPU.
        strict: whether it is right only for a target that takes all operations as written.
    """

    def __init__(self, algorithm: Algorithm, schedule: Schedule, level: CpuLevel) -> None:
        algorithm = with_divisors_written_out(algorithm, schedule.names)
        tensors = (*algorithm.inputs, *algorithm.funcs)
        self._shapes = {tensor.name: tensor.shape for tensor in tensors}
        _refuse_large(self._shapes)
        self._lanes, self.consumed = partial_results(algorithm, schedule)
        self._algorithm = algorithm
        self.needs_gpu = schedule.needs_gpu
        self.strict = needs_strict_target(algorithm)
        self._fused = level != "baseline" and not self.strict
        self.params = [
            hl.ImageParam(stored_type(tensor.dtype), len(tensor.shape), plain_name(tensor.name))
            for tensor in algorithm.inputs
        ]
        self._sources: dict[tuple[str, str], Any] = {
            (tensor.name, ""): param
            for tensor, param in zip(algorithm.inputs, self.params, strict=True)
        }
        self._sizes = {
            name: self.params[number].dim(len(algorithm.inputs[number].shape) - 1 - axis).extent()
            for name, (number, axis) in algorithm.free_sizes.items()
        }
        self._describe_inputs()
        self.nests: dict[str, LoopNests] = {}
        nests = output_nests(algorithm)
        between = self._shapes.keys() - {nest.name for nest in nests}
        copies = {
            number: one
            for number, one in enumerate(schedule.primitives)
            if isinstance(one, In) and one.func in between
        }
        self._copies = sorted(copies.values(), key=lambda one: one.reader != "")
        self.consumed |= copies.keys()
        for tensor in algorithm.inputs:
            self._copy(tensor.name)
        self.halves: dict[str, list[Any]] = {}
        self.reductions: list[Any] = []
        for func in algorithm.funcs:
            self.nests[func.name] = self._defined(func)
            self._copy(func.name)
        self.outputs = [self._output(nest) for nest in nests]

    def _copy(self, tensor: str) -> None:
        """Have a tensor read through Funcs of its own, as many as the schedule says."""
        for copy in self._copies:
            if copy.func != tensor:
                continue
            axes = {f"a{axis}": hl.Var(f"a{axis}") for axis in range(len(self._shapes[tensor]))}
            made = hl.Func(plain_name(copy.made))
            made[_at(axes.values())] = self._source(tensor, copy.reader)[_at(axes.values())]
            self._sources[tensor, copy.reader] = made
            self.nests[copy.made] = LoopNests(made, (axes,))

    def _source(self, tensor: str, reader: str) -> Any:
        """What a Func reads a tensor through: a copy for it alone, one for all, or the tensor."""
        known = (tensor, reader) in self._sources
        return self._sources[tensor, reader if known else ""]

    def _extent(self, extent: Dimension) -> Expr:
        if not isinstance(extent, int):
            for name in extent.symbols() - self._sizes.keys():
                raise KernelRefused(f"Nothing says how large {name} is: no input has such an axis.")
        return self._body({}, {}).value(extent_scalar(extent))

    def _describe_inputs(self) -> None:
        own = {place: name for name, place in self._algorithm.free_sizes.items()}
        for number, tensor in enumerate(self._algorithm.inputs):
            _describe(
                self.params[number],
                [
                    None if (number, axis) in own else self._extent(size)
                    for axis, size in enumerate(tensor.shape)
                ],
            )

    def _body(
        self, variables: Mapping[str, Any], extents: Mapping[str, Dimension], reader: str = ""
    ) -> Body:
        return Body(
            _expressions(variables),
            extents,
            sizes=self._sizes,
            read=partial(self._element, reader),
            shapes=self._shapes,
            stages=Stages(_at(variables.values()), fused=self._fused),
        )

    def _element(self, reader: str, tensor: str, places: Sequence[Expr]) -> Expr:
        found = self._source(tensor, reader)[_at(places)]
        func = self._algorithm.by_name.get(tensor)
        return found if func is None else stored(hl.Expr(found), func.dtype)

    def _defined(self, func: Func) -> LoopNests:
        made = self._sources[func.name, ""] = hl.Func(plain_name(func.name))
        if func.reduction is not None:
            lanes = self._lanes.get(func.name)
            return self._in_lanes(func, made, lanes) if lanes else self._reduced(func, made)
        axes = _variables(func.axes)
        value = self._body(axes, extents_of(func), func.name).value(func.body)
        made[_at(axes.values())] = strict(stored(value, func.dtype))
        return LoopNests(made, (axes,))

    def _in_lanes(self, func: Func, made: Any, lanes: Lanes) -> LoopNests:
        """A reduction by lanes, then of half as many, down to one."""
        assert func.reduction is not None, "others have no lanes"
        partials = hl.Func(plain_name(lanes.made))
        self.nests[lanes.made] = self._reduced(func, partials, lanes)
        axes = _variables(func.axes)
        self.halves[func.name] = list(halves(partials, func.reduction, lanes, [*axes.values()]))
        last = self.halves[func.name][-1] if lanes.factor > 1 else partials
        made[_at(axes.values())] = last[_at([*axes.values(), hl.i32(0)])]
        self.reductions.append(made)
        return LoopNests(made, (axes,))

    def _reduced(self, func: Func, made: Any, lanes: Lanes | None = None) -> LoopNests:
        reduction = func.reduction
        assert reduction is not None, "others do not reduce"
        axes = _variables(func.axes)
        if lanes is not None:
            axes[lanes.lane] = hl.Var(plain_name(lanes.lane))
        rounds = self._rounds(reduction.axes, lanes)
        ranges = [(0, extent) for extent in reversed(rounds.values())]
        domain = hl.RDom(ranges, plain_name("_".join(rounds)))
        loops = {name: domain[len(rounds) - 1 - place] for place, name in enumerate(rounds)}
        variables = _expressions({**axes, **loops})
        inside: Expr | None = None
        if lanes is not None:
            place = variables[lanes.outer] * lanes.factor + variables[lanes.lane]
            size = next(axis.extent for axis in reduction.axes if axis.name == lanes.axis)
            inside = hl.likely(place < self._extent(size))
            # What is computed for this ends where the axis ends, whether lanes do or not.
            variables[lanes.axis] = hl.unsafe_promise_clamped(place, 0, self._extent(size) - 1)
        at = _at(axes.values())
        start = identity(reduction.kind, func.dtype)
        made[at] = start
        gathered = self._gathered(func, variables)
        read = variables_of(func.body)
        for axis in reduction.axes:
            if axis.name not in read:  # Halide knows of no loop that is not read
                loop = lanes.outer if lanes and axis.name == lanes.axis else axis.name
                gathered = hl.select(variables[loop] >= 0, gathered, start)
        if inside is not None and lanes is not None and lanes.past_end:
            gathered = hl.select(inside, gathered, start)
        elif inside is not None:
            domain.where(inside)
        made[at] = strict(combined(reduction, hl.Expr(made[at]), gathered))
        self.reductions.append(made)
        return LoopNests(made, (axes, {**axes, **loops}))

    def _gathered(self, func: Func, places: Mapping[str, Expr]) -> Expr:
        """What a reduction combines: a Func of its own, since stages know no reductions."""
        assert func.reduction is not None, "others gather nothing"
        variables = _variables((*func.axes, *func.reduction.axes))
        if not needs_stages(func.body):
            here = {name: places[name] for name in variables}
            value = self._body(here, extents_of(func), func.name).value(func.body)
            return strict(hl.cast(accumulator_type(func.dtype), value))
        value = self._body(variables, extents_of(func), func.name).value(func.body)
        made = hl.Func(plain_name(f"{func.name}_element"))
        made[_at(variables.values())] = strict(hl.cast(accumulator_type(func.dtype), value))
        return hl.Expr(made[_at(places[name] for name in variables)])

    def _rounds(self, axes: Sequence[LoopAxis], lanes: Lanes | None) -> dict[str, Expr]:
        """How often each loop of a reduction runs; innermost is that of the lanes.

        Halide lets them change places only in what it knows to be associative.
        """
        found = {axis.name: self._extent(axis.extent) for axis in axes}
        if lanes is not None:
            found[lanes.outer] = (found.pop(lanes.axis) + (lanes.factor - 1)) / lanes.factor
        return found

    def _output(self, nest: OutputNest) -> Any:
        if nest.name in self.nests:
            made = self.nests[nest.name].func
        else:
            made = hl.Func(plain_name(nest.name))
            axes = _variables(nest.axes)
            places = list(_expressions(axes).values())
            values = [self._element(nest.name, name, places) for name in nest.outputs]
            made[_at(axes.values())] = hl.Tuple(values) if len(values) > 1 else values[0]
            self.nests[nest.name] = LoopNests(made, (axes,))
        buffers = made.output_buffers()
        _describe(buffers[0], [self._extent(axis.extent) for axis in nest.axes])
        return made


def _describe(buffer: Any, extents: Sequence[Expr | None]) -> None:
    """Tell of a dense buffer that starts at 0; an extent of None stays what it is."""
    stride: Expr = hl.i32(1)
    for number, extent in enumerate(reversed(extents)):
        dim = buffer.dim(number)
        dim.set_stride(stride)
        if extent is None:
            dim.set_min(0)
            extent = dim.extent()
        else:
            dim.set_bounds(0, extent)
        stride = stride * extent


def _refuse_large(shapes: Mapping[str, Sequence[Dimension]]) -> None:
    for name, shape in shapes.items():
        count = math.prod(size for size in shape if isinstance(size, int))
        if count > MAX_ELEMENTS:
            raise KernelRefused(
                f"{name} has {count} elements; a generated kernel takes at most {MAX_ELEMENTS}."
            )


def _variables(axes: Iterable[LoopAxis]) -> dict[str, Any]:
    return {axis.name: hl.Var(plain_name(axis.name)) for axis in axes}


def _expressions(variables: Mapping[str, Any]) -> dict[str, Expr]:
    return {
        name: one if isinstance(one, hl.Expr) else hl.Expr(one) for name, one in variables.items()
    }


def _at(places: Iterable[Any]) -> tuple[Any, ...]:
    """Where, as Halide writes it: the innermost axis first."""
    return tuple(reversed(list(places)))
