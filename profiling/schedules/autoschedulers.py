"""Halide's autoschedulers: each writes a schedule for an algorithm. Only in a worker.

They are plug-ins of native code that are made for whole applications: they search, some for
minutes, and end the process where they meet what they do not know.

Source: Mullapudi et al. 2016, Adams et al. 2019, Li et al. 2018 (gradient Halide), Anderson et al.
2021, as in Halide 21.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from optimizer.errors import StudioError, WorkerCrashed, WorkerTimeout
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.outputs import output_nests
from optimizer.loops.schedule import Schedule
from optimizer.schedules.halide_source.importing import Imported, imported
from optimizer.schedules.halide_source.names import source_names
from optimizer.schedules.program import numbers_of
from profiling.codegen.halide_object import CUDA, KERNEL, target_text, unscheduled
from profiling.codegen.kernel import CpuLevel, KernelRefused
from profiling.codegen.levels import cpu_level
from profiling.workers import WorkerPool

Autoscheduler = Literal["Mullapudi2016", "Adams2019", "Li2018", "Anderson2021"]
AUTOSCHEDULERS: tuple[Autoscheduler, ...] = get_args(Autoscheduler)
FOR_GPUS: frozenset[Autoscheduler] = frozenset({"Anderson2021"})
"""Those whose schedules are for a GPU; none is needed to make them."""

LIMITS = JobLimits(seconds=120, memory_bytes=6144 * MIB)
"""Of one run."""
_MULTIPROCESSORS = 80
"""Of a GPU, where a schedule is for one."""


@dataclass(frozen=True)
class Autoscheduled:
    """What an autoscheduler made.

    Attributes:
        source: its text.
        found: the same as primitives.
    """

    source: str
    found: Imported


def run_autoscheduler(
    algorithm: Algorithm,
    autoscheduler: Autoscheduler,
    *,
    pool: WorkerPool,
    cancelled: Callable[[], bool] | None = None,
    limits: JobLimits = LIMITS,
) -> Autoscheduled:
    """The schedule that an autoscheduler makes for this machine, in a worker.

    Args:
        algorithm: of sizes that are numbers.
        autoscheduler: which.
        pool: gives the worker.
        cancelled: asked now and then.
        limits: of the run.

    Raises:
        StudioError: it has no schedule for this, or one that no primitives do; or it ended its
            process, took too long or too much memory.
        Cancelled: if `cancelled` said so.
    """
    try:
        return pool(
            autoscheduled, algorithm, autoscheduler, cpu_level(), limits=limits, cancelled=cancelled
        )
    except WorkerCrashed as error:
        raise StudioError(
            f"{autoscheduler} gave up on this algorithm and ended its process "
            f"({error.signal_name}): it has no schedule for it."
        ) from error
    except WorkerTimeout as error:
        raise StudioError(
            f"{autoscheduler} was stopped after {limits.seconds:g} s: it has no schedule for this "
            "algorithm in that time."
        ) from error


def autoscheduled(
    algorithm: Algorithm, autoscheduler: Autoscheduler, level: CpuLevel, threads: int = 0
) -> Autoscheduled:
    """The schedule that an autoscheduler makes.

    Args:
        algorithm: of sizes that are numbers.
        autoscheduler: which.
        level: what of the processor it may use.
        threads: for how many; 0 for those that there are.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this, or cannot schedule it.
        NotImported: the schedule asks for what no primitive does.
    """
    made = Scheduled(algorithm, autoscheduler, level, threads)
    names = source_names(algorithm, made.func_names())
    return Autoscheduled(made.source, imported(made.source, algorithm, names))


class Scheduled:
    """A pipeline of Halide's with the loops that an autoscheduler gave it.

    Attributes:
        source: the text of its schedule.
        params: inputs.
        pipeline: Halide's.
        target: that it is for.
    """

    def __init__(
        self, algorithm: Algorithm, autoscheduler: Autoscheduler, level: CpuLevel, threads: int
    ) -> None:
        made = unscheduled(algorithm, Schedule(), level)
        from profiling.codegen.halide_bindings import hl
        from profiling.codegen.halide_schedule import reason_of

        _load(hl, autoscheduler)
        for tensor, param in zip(algorithm.inputs, made.params, strict=True):
            for number, size in enumerate(reversed(numbers_of(tensor.shape))):
                param.dim(number).set_estimate(0, size)
        for nest, output in zip(output_nests(algorithm), made.outputs, strict=True):
            output.set_estimates([(0, one.extent) for one in reversed(nest.axes)])
        self._hl, self._reason_of = hl, reason_of
        self.params, self.pipeline = made.params, hl.Pipeline(made.outputs)
        gpu = CUDA if autoscheduler in FOR_GPUS else ""
        features = "-".join(word for word in (gpu, KERNEL) if word)
        self.target = hl.Target(target_text(level, features, strict=made.strict))
        self.source = self._applied(autoscheduler, threads)

    def _applied(self, autoscheduler: Autoscheduler, threads: int) -> str:
        on_gpu = autoscheduler in FOR_GPUS
        count = _MULTIPROCESSORS if on_gpu else threads or len(os.sched_getaffinity(0))
        options = {} if autoscheduler == "Li2018" else {"parallelism": str(count)}
        wish = self._hl.AutoschedulerParams(autoscheduler, options)
        try:
            return str(self.pipeline.apply_autoscheduler(self.target, wish).schedule_source)
        except self._hl.HalideError as error:
            reason = self._reason_of(error)
            raise KernelRefused(f"{autoscheduler} has no schedule for this: {reason}.") from error

    def assembly(self) -> str:
        """Its machine code."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.s"
            kind = self._hl.OutputFileType.assembly
            try:
                self.pipeline.compile_to({kind: str(path)}, self.params, "kernel", self.target)
            except self._hl.HalideError as error:
                raise KernelRefused(
                    f"Halide cannot compile the schedule of its own autoscheduler: "
                    f"{self._reason_of(error)}."
                ) from error
            return path.read_text()

    def func_names(self) -> list[str]:
        """Of all Funcs of the pipeline, as Halide has them."""
        return list(self._names())

    def _names(self) -> Iterator[str]:
        number = 0
        while True:
            try:
                yield self.pipeline.get_func(number).name()
            except self._hl.HalideError:
                return
            number += 1


def _load(hl: Any, autoscheduler: Autoscheduler) -> None:
    """The plug-in, which a process has from then on."""
    folder = Path(hl.__file__).parent
    name = f"libautoschedule_{autoscheduler.lower()}.so"
    for path in (folder / "lib64" / name, folder / "lib" / name):
        if path.exists():
            hl.load_plugin(str(path))
            return
    raise KernelRefused(f"Halide is installed without {autoscheduler}.")
