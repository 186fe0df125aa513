"""Triton as a candidate for NVIDIA GPUs.

Without one its kernels are compiled to PTX all the same, and run in Triton's interpreter on the
edge cases of all candidates. There is no time then, and the candidate says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from optimizer.dimension import Dimension
from optimizer.fusion.algorithm import algorithm_of
from optimizer.isolation import Isolate
from optimizer.limits import JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.building import NotGenerated
from optimizer.loops.evaluation import sizes_of
from optimizer.model.generated_functions import KernelBody
from optimizer.verify.runtime import as_file
from profiling.codegen import triton_candidate
from profiling.codegen.kernel import LibraryError
from profiling.codegen.triton_source import triton_program
from profiling.config import RunConfig, Value
from profiling.config.session import Device
from profiling.kernels.generated.checking import Arrays, Checked, OutOfReach, first_fault
from profiling.kernels.generated.edge_cases import EdgeCase
from profiling.kernels.generated.single import body_in

MOST_PROGRAMS = 600
"""Of all runs of a check in the interpreter, which takes tens of milliseconds for each."""
_COMPILING = JobLimits(seconds=300.0, memory_bytes=None)
_INTERPRETING = JobLimits(seconds=600.0, memory_bytes=None)


@dataclass(frozen=True, slots=True)
class TritonCode:
    """Kernels in Triton from the loops of the function body."""

    label: str = "Triton"

    @property
    def target(self) -> Device:
        """See `Implementation`."""
        return "cuda"

    @property
    def own_process(self) -> bool:
        """See `Implementation`: Triton decides when it is imported whether it interprets."""
        return True

    @property
    def changes(self) -> Mapping[str, Value]:
        """See `Implementation`."""
        return {"device": "cuda"}

    def supports(self, body: KernelBody) -> str:
        """Whether the body has loops, they have a form in Triton, and Triton is here."""
        try:
            return triton_candidate.supports(loops_of_body(body))
        except NotGenerated as error:
            return str(error)

    def build(self, model: bytes, isolate: Isolate) -> None:
        """Compile to PTX and machine code; no GPU is needed."""
        isolate(compiled, model, limits=_COMPILING)

    def check(self, model: bytes, cases: Sequence[EdgeCase], isolate: Isolate) -> Checked:
        """In the interpreter, as far as `MOST_PROGRAMS` programs go: special numbers first."""
        usual, *others = cases
        ordered = [usual, *sorted(others, key=lambda case: not case.special)]
        return isolate(first_fault, model, RunConfig(), ordered, interpreted, limits=_INTERPRETING)


def loops_of_body(body: KernelBody) -> Algorithm:
    """What a kernel computes, as loops.

    Raises:
        NotGenerated: there are none for it.
    """
    return algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)


def compiled(model: bytes) -> dict[str, str]:
    """The kernels of a model that has one generated function: name -> PTX. In a worker of its own.

    Raises:
        LibraryError: Triton is missing, or cannot compute this.
    """
    algorithm = loops_of_body(body_in(as_file(model)))
    return {one.name: one.ptx for one in triton_candidate.build(algorithm, Path.cwd())}


class Interpreted:
    """A generated function in Triton's interpreter, called as a session is."""

    def __init__(self, body: KernelBody) -> None:
        self._algorithm = loops_of_body(body)
        self._names = [value.name or "" for value in body.inputs]
        self._left = float(MOST_PROGRAMS)

    def run(self, names: Sequence[str], feeds: Arrays) -> list[NDArray[Any]]:
        """Outputs in the function's order, which is that of `names`.

        Raises:
            OutOfReach: there are more programs than are left to be interpreted.
            LibraryError: Triton is missing, or cannot compute this.
        """
        inputs = [feeds[name] for name in self._names]
        count = self._programs(inputs)
        if count > self._left:
            raise OutOfReach
        self._left -= count
        (found,) = triton_candidate.run(self._algorithm, [inputs], Path.cwd())
        if len(found) != len(names):
            raise LibraryError(f"It gives {len(found)} outputs instead of {len(names)}.")
        return found

    def _programs(self, inputs: Sequence[NDArray[Any]]) -> float:
        """Of all kernels together."""
        sizes = sizes_of(self._algorithm, inputs)
        return sum(
            math.prod(math.ceil(_number(extent, sizes) / block) for extent, block in kernel.blocks)
            for kernel in triton_program(self._algorithm).kernels
        )


def _number(extent: Dimension, sizes: Mapping[str, int]) -> float:
    """A size; beyond all bounds where the inputs do not say it."""
    found = extent if isinstance(extent, int) else extent.evaluate(sizes)
    return found if isinstance(found, int) else math.inf


def interpreted(path: Path, config: RunConfig) -> Interpreted:
    """See `Interpreted`; in a worker of its own."""
    del config
    return Interpreted(body_in(path))
