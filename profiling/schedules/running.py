"""An algorithm in the order of a schedule, compiled in memory and run. Only in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.program import numbers_of
from profiling.codegen.halide_object import lowered, scheduled, target_text
from profiling.codegen.kernel import CpuLevel, KernelRefused

Array = NDArray[Any]


class Compiled:
    """A schedule that can be run.

    Args:
        algorithm: of sizes that are numbers.
        schedule: its order.
        level: what of the processor it may use.
        features: more of Halide's target, such as tracing.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """

    def __init__(
        self, algorithm: Algorithm, schedule: Schedule, level: CpuLevel, features: str = ""
    ) -> None:
        from profiling.codegen.halide_bindings import hl

        if schedule.needs_gpu:
            raise KernelRefused("This schedule is for a GPU, and is run on none here.")
        self._hl, self._algorithm = hl, algorithm
        self._made = scheduled(algorithm, schedule, level)
        words = "-".join(word for word in ("jit", features) if word)
        self._target = hl.Target(target_text(level, words, strict=self._made.strict))
        self._pipeline = hl.Pipeline(self._made.outputs)
        lowered(algorithm, schedule, lambda: self._pipeline.compile_jit(self._target))

    def __call__(self, inputs: Sequence[Array]) -> list[Array]:
        """The outputs."""
        call, outputs = self.bound(inputs)
        call()
        return outputs

    def bound(self, inputs: Sequence[Array]) -> tuple[Callable[[], None], list[Array]]:
        """What computes, and where it writes to, as often as it is called."""
        held = [np.ascontiguousarray(one) for one in inputs]
        funcs = [self._algorithm.by_name[name] for name in self._algorithm.outputs]
        outputs = [np.zeros(numbers_of(func.shape), func.dtype.numpy()) for func in funcs]
        buffers = [self._hl.Buffer(one) for one in outputs]
        for param, array in zip(self._made.params, held, strict=True):
            param.set(self._hl.Buffer(array))
        target: Any = buffers if len(buffers) > 1 else buffers[0]

        def call() -> None:
            assert held is not None, "what is read must live as long as what reads it"
            self._pipeline.realize(target, self._target)

        return call, outputs


def random_inputs(algorithm: Algorithm, seed: int = 0) -> list[Array]:
    """Numbers that a kernel of this algorithm may meet."""
    random = np.random.default_rng(seed)
    found: list[Array] = []
    for one in algorithm.inputs:
        shape, dtype = numbers_of(one.shape), one.dtype.numpy()
        if dtype.kind in "biu":
            found.append(random.integers(0, 2, shape).astype(dtype))
        else:
            found.append(random.standard_normal(shape).astype(dtype))
    return found


def realized(
    algorithm: Algorithm, schedules: Sequence[Schedule], inputs: Sequence[Array], level: CpuLevel
) -> list[list[Array]]:
    """The outputs of each schedule."""
    return [Compiled(algorithm, schedule, level)(inputs) for schedule in schedules]


def timed(
    algorithm: Algorithm, schedules: Sequence[Schedule], level: CpuLevel, seconds: float
) -> list[tuple[float, ...]]:
    """Seconds of runs of each schedule, taken in turns so that whatever else runs meets all."""
    inputs = random_inputs(algorithm)
    calls = [Compiled(algorithm, one, level).bound(inputs)[0] for one in schedules]
    for call in calls:
        call()
    found: list[list[float]] = [[] for _ in calls]
    until = time.monotonic() + seconds
    while time.monotonic() < until or not found[-1]:
        for call, times in zip(calls, found, strict=True):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
    return [tuple(times) for times in found]
