"""An algorithm as a function of TVM over buffers, in a default order of its loops.

Only inputs, reductions and outputs have a memory; all else is computed where it is read. Rows are
shared among threads, with the reductions of a row inside; LLVM vectorizes what is innermost. Only
where TVM is installed.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm, Func, ReductionKind
from optimizer.loops.evaluation import extremes
from optimizer.loops.inlining import inlined_bodies
from profiling.codegen.kernel import KernelRefused
from profiling.tvm.scalars import FLOATS, expression, larger, size_of, smaller, type_of

LANES = 16
"""Of a reduction of floats: so many side by side."""
_ALIGNED = '"data_alignment":64,'


def primitive(algorithm: Algorithm, name: str) -> Any:
    """A module of TVM with one function: inputs, outputs, free sizes, in this order.

    Args:
        algorithm: what to compute.
        name: of the function.

    Raises:
        KernelRefused: TVM lacks a function or an element type.
    """
    made = _Primitive(algorithm)
    return made.scheduled(name)


class _Primitive:
    def __init__(self, algorithm: Algorithm) -> None:
        self._te: Any = importlib.import_module("tvm.te")
        self._tir: Any = importlib.import_module("tvm.tirx")
        self._algorithm = algorithm
        bodies = inlined_bodies(algorithm)
        if bodies is None:
            raise KernelRefused("A kernel of so many operations is not written in TVM.")
        self._bodies = bodies
        self._sizes = {
            name: self._tir.Var(f"s{number}", "int64")
            for number, name in enumerate(algorithm.free_sizes)
        }
        self._tensors: dict[str, Any] = {
            one.name: self._te.placeholder(
                self._shape(one.shape), type_of(one.dtype), name=f"in{number}"
            )
            for number, one in enumerate(algorithm.inputs)
        }
        self._kept = [
            func
            for func in algorithm.funcs
            if func.reduction is not None or func.name in algorithm.outputs
        ]
        for number, func in enumerate(self._kept):
            self._tensors[func.name] = self._computed(func, f"kept{number}")

    def scheduled(self, name: str) -> Any:
        """The function in its order."""
        algorithm = self._algorithm
        names = [one.name for one in algorithm.inputs] + [*algorithm.outputs]
        given = [*(self._tensors[one] for one in names), *self._sizes.values()]
        function = self._te.create_prim_func(given)
        tvm: Any = importlib.import_module("tvm")
        schedule = tvm.s_tir.Schedule(tvm.IRModule({name: function}))
        schedule.work_on(name)
        self._reorder(schedule)
        return _unaligned(tvm.IRModule({name: schedule.mod[name].with_attr("global_symbol", name)}))

    def _shape(self, shape: Sequence[Dimension]) -> tuple[Any, ...]:
        return tuple(size_of(extent, self._sizes) for extent in shape)

    def _computed(self, func: Func, name: str) -> Any:
        reduced = func.reduction.axes if func.reduction else ()
        along = [
            self._te.reduce_axis((0, size_of(axis.extent, self._sizes)), name=f"r{number}")
            for number, axis in enumerate(reduced)
        ]

        def element(*places: Any) -> Any:
            variables = {axis.name: one for axis, one in zip(func.axes, places, strict=True)}
            variables |= {axis.name: one.var for axis, one in zip(reduced, along, strict=True)}
            body = expression(self._bodies[func.name], variables, self._sizes, self._tensors)
            return (
                self._combined(func.reduction.kind, func, body, along) if func.reduction else body
            )

        if self._in_lanes(func):
            return self._lane_by_lane(func, name)
        return self._te.compute(self._shape(func.shape), element, name=name)

    def _in_lanes(self, func: Func) -> bool:
        """Whether its rows are of floats, of a known length that lanes divide."""
        axes = func.reduction.axes if func.reduction else ()
        extents = [axis.extent for axis in axes]
        return func.dtype in FLOATS and len(extents) == 1 and _divides(extents[0])

    def _lane_by_lane(self, func: Func, name: str) -> Any:
        """A reduction as several side by side, and those combined."""
        assert func.reduction is not None, "others have no lanes"
        te, (axis,), kind = self._te, func.reduction.axes, func.reduction.kind
        shape, lanes = self._shape(func.shape), self._tir.const(LANES, "int64")
        along = te.reduce_axis((0, size_of(axis.extent, self._sizes) // lanes), name="r0")
        across = te.reduce_axis((0, lanes), name="lane")

        def partly(*places: Any) -> Any:
            *row, lane = places
            variables = {one.name: place for one, place in zip(func.axes, row, strict=True)}
            variables[axis.name] = along.var * lanes + lane
            body = expression(self._bodies[func.name], variables, self._sizes, self._tensors)
            return self._combined(kind, func, body, [along])

        side = te.compute((*shape, lanes), partly, name=f"lanes_{name}")

        def wholly(*places: Any) -> Any:
            return self._combined(kind, func, side(*places, across.var), [across])

        return te.compute(shape, wholly, name=name)

    def _combined(self, kind: ReductionKind, func: Func, body: Any, along: Sequence[Any]) -> Any:
        te, tir, dtype = self._te, self._tir, type_of(func.dtype)
        if kind == "sum":
            return te.sum(body, axis=along)
        lowest, highest = extremes(func.dtype)
        is_float = func.dtype in FLOATS
        ways: Mapping[str, tuple[Any, float]] = {
            "max": (larger if is_float else tir.max, lowest),
            "min": (smaller if is_float else tir.min, highest),
            "product": (operator.mul, 1), "any": (tir.Or, 0), "all": (tir.And, 1),
        }  # fmt: skip
        combine, first = ways[kind]
        start = tir.const(bool(first) if dtype == "bool" else first, dtype)

        def begin(_dtype: str) -> Any:
            return start

        return te.comm_reducer(combine, begin, name=kind)(body, axis=along)

    def _reorder(self, schedule: Any) -> None:
        """Reductions into the rows of the last output, where it has their rows in front."""
        last = next(n for n in reversed(range(len(self._kept))) if self._is_output(self._kept[n]))
        func = self._kept[last]
        rows = self._rows(func)
        loops = schedule.get_loops(schedule.get_sblock(f"kept{last}"))
        if func.reduction is None and 0 < rows < len(loops):
            for number in reversed(range(last)):
                one = self._kept[number]
                if not self._is_output(one) and self._rows(one, of=func) == rows:
                    schedule.compute_at(schedule.get_sblock(f"kept{number}"), loops[rows - 1])
                    if self._in_lanes(one):
                        side = schedule.get_sblock(f"lanes_kept{number}")
                        schedule.compute_at(side, loops[rows - 1])
        for number, one in enumerate(self._kept):
            if self._in_lanes(one):
                *_, lane, along = schedule.get_loops(schedule.get_sblock(f"lanes_kept{number}"))
                schedule.reorder(along, lane)
                schedule.vectorize(lane)
        shared = loops[: max(1, min(rows or len(loops) - 1, len(func.axes)))]
        if func.axes:
            schedule.parallel(schedule.fuse(*shared) if len(shared) > 1 else shared[0])

    def _is_output(self, func: Func) -> bool:
        return func.name in self._algorithm.outputs

    def _rows(self, func: Func, of: Func | None = None) -> int:
        """How many axes in front an output shares with the reductions before it."""
        shape = (of or func).shape
        reductions = [one for one in self._kept if one.reduction is not None]
        own = [one for one in reductions if of is None or one is func]
        counts = {_in_front(one.shape, shape) for one in own}
        return counts.pop() if len(counts) == 1 else 0


def _unaligned(module: Any) -> Any:
    """The module for tensors that begin anywhere: TVM takes 64 bytes for granted."""
    ir: Any = importlib.import_module("tvm.ir")
    return ir.load_json(str(ir.save_json(module)).replace(_ALIGNED, '"data_alignment":1,'))


def _divides(extent: Dimension) -> bool:
    return isinstance(extent, int) and extent >= 2 * LANES and extent % LANES == 0


def _in_front(shape: Sequence[Dimension], whole: Sequence[Dimension]) -> int:
    """Extents in front that a reduction has as a whole has them; those behind must be 1."""
    count = next(
        (n for n, (a, b) in enumerate(zip(shape, whole, strict=False)) if a != b), len(shape)
    )
    return count if all(size == 1 for size in shape[count:]) else 0
