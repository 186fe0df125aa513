"""Kernels compiled by Halide, ahead of time. To be called in a worker process."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from optimizer.errors import quoted
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule, ScheduleError
from profiling.codegen.kernel import CpuLevel, KernelRefused, LibraryError

if TYPE_CHECKING:
    from profiling.codegen.halide_pipeline import HalidePipeline

COMPILE_LIMITS = JobLimits(seconds=60, memory_bytes=4096 * MIB)
"""Of one kernel: most take less than a second."""

_INSTRUCTIONS: Mapping[CpuLevel, str] = {
    "baseline": "sse41",
    "avx2": "sse41-avx-f16c-fma-avx2",
    "avx512": "sse41-avx-f16c-fma-avx2-avx512-avx512_skylake",
}
CodeForm = Literal["stmt", "conceptual_stmt", "c_source", "llvm_assembly", "assembly"]
"""Halide's own statements; the same while what is for a GPU stands among them; C++, LLVM's
instructions, the processor's."""
_ENDINGS: Mapping[CodeForm, str] = {
    "stmt": ".stmt", "conceptual_stmt": ".conceptual.stmt", "c_source": ".cpp",
    "llvm_assembly": ".ll", "assembly": ".s",
}  # fmt: skip
KERNEL = "no_runtime-no_asserts-no_bounds_query-user_context"
"""What of Halide's target makes a function that stands alone."""
GPU_TARGET = "sm_80"
CUDA = f"cuda-cuda_capability_{GPU_TARGET.removeprefix('sm_')}"
"""What of it is for a GPU: PTX, for which neither a GPU nor CUDA is needed."""


def compile_object(
    algorithm: Algorithm, schedule: Schedule, name: str, level: CpuLevel, folder: Path
) -> Path:
    """An object file with the one function `name`.

    In C it is `int NAME(void *user_context, halide_buffer_t *in0, …, halide_buffer_t *out0, …)`
    and gives 0. Buffers are dense, and as large as the algorithm says: nothing is checked. Host
    pointers are never null: where an input has no elements, its first may still be read.
    It needs `halide_do_par_for`, where a loop is parallel, and `halide_malloc` and `halide_free`,
    where memory between loops is large or of a free size.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    path = folder / f"{name}.o"
    pipeline = scheduled(algorithm, schedule, level)
    lowered(algorithm, schedule, lambda: _compile(pipeline, name, level, {"object": path}))
    return path


def code_texts(
    algorithm: Algorithm, schedule: Schedule, level: CpuLevel, forms: Sequence[CodeForm]
) -> dict[CodeForm, str]:
    """A kernel in forms that it takes on its way to an object file, all of one compilation.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    pipeline = scheduled(algorithm, schedule, level)
    with tempfile.TemporaryDirectory() as folder:
        paths: dict[str, Path] = {form: Path(folder) / f"kernel{_ENDINGS[form]}" for form in forms}
        lowered(algorithm, schedule, lambda: _compile(pipeline, "kernel", level, paths))
        return {form: paths[form].read_text() for form in forms}


def code_text(
    algorithm: Algorithm, schedule: Schedule, level: CpuLevel, form: CodeForm = "assembly"
) -> str:
    """A kernel in one of these forms.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    return code_texts(algorithm, schedule, level, [form])[form]


def loop_nest(algorithm: Algorithm, schedule: Schedule) -> str:
    """The loops of a kernel, as Halide prints them.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    from profiling.codegen.standard_error import captured

    pipeline = scheduled(algorithm, schedule)
    with captured() as said:
        lowered(algorithm, schedule, lambda: _pipeline(pipeline).print_loop_nest())
    return re.sub(r"\$\d+", "", said())


def scheduled(
    algorithm: Algorithm, schedule: Schedule, level: CpuLevel = "baseline"
) -> HalidePipeline:
    """A kernel in Halide, its loops ordered.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    pipeline = unscheduled(algorithm, schedule, level)
    from profiling.codegen.halide_schedule import apply_schedule

    apply_schedule(pipeline, schedule)
    return pipeline


def unscheduled(algorithm: Algorithm, schedule: Schedule, level: CpuLevel) -> HalidePipeline:
    """A kernel in Halide, its loops not yet ordered.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive asks for a definition that cannot be.
    """
    try:
        from profiling.codegen.halide_pipeline import HalidePipeline
    except ImportError as error:
        if error.name != "halide":
            raise
        raise LibraryError(
            "Halide is not installed, which compiles kernels: pip install halide "
            "(there are wheels for x86-64 and ARM)."
        ) from error
    return HalidePipeline(algorithm, schedule, level)


def target_text(level: CpuLevel, features: str = "", *, strict: bool = False) -> str:
    """What Halide compiles for, as it is written there.

    Args:
        level: of processors.
        features: more of them, with a minus between two.
        strict: whether all operations are taken as written.
    """
    words = ["x86-64-linux", _INSTRUCTIONS[level], features, "strict_float" if strict else ""]
    return "-".join(word for word in words if word)


def _pipeline(pipeline: HalidePipeline) -> Any:
    from profiling.codegen.halide_bindings import hl

    return hl.Pipeline(pipeline.outputs)


def _compile(
    pipeline: HalidePipeline, name: str, level: CpuLevel, kinds: Mapping[str, Path]
) -> None:
    from profiling.codegen.halide_bindings import hl

    features = f"{CUDA}-{KERNEL}" if pipeline.needs_gpu else KERNEL
    target = hl.Target(target_text(level, features, strict=pipeline.strict))
    files = {getattr(hl.OutputFileType, kind): str(path) for kind, path in kinds.items()}
    _pipeline(pipeline).compile_to(files, pipeline.params, name, target)


def lowered(algorithm: Algorithm, schedule: Schedule, work: Callable[[], None]) -> None:
    """Do what lowers a pipeline; what Halide says against it is the fault of a primitive.

    Raises:
        ScheduleError: names the last primitive without which those before it can be lowered.
        LibraryError: it cannot be lowered without a schedule, either.
    """
    from profiling.codegen.halide_bindings import hl
    from profiling.codegen.halide_schedule import reason_of

    try:
        work()
    except hl.HalideError as error:
        reason = reason_of(error)
        for count in reversed(range(len(schedule.primitives))):
            before = _refusal(algorithm, replace(schedule, primitives=schedule.primitives[:count]))
            if before is None:
                raise ScheduleError(count, reason) from error
            reason = before
        text = quoted(reason, limit=200)
        raise KernelRefused(f"Halide cannot compile this kernel: {text}.") from error


def _refusal(algorithm: Algorithm, schedule: Schedule) -> str | None:
    """What Halide says against a schedule; None where it can be lowered."""
    from profiling.codegen.halide_bindings import hl
    from profiling.codegen.halide_schedule import reason_of

    try:
        pipeline = scheduled(algorithm, schedule)
        with tempfile.TemporaryDirectory() as folder:
            _compile(pipeline, "kernel", "baseline", {"stmt": Path(folder) / "kernel.stmt"})
    except hl.HalideError as error:
        return reason_of(error)
    except ScheduleError as error:
        return error.reason
    return None
