"""Triton as a candidate for GPUs: compiled without one, interpreted to be checked, not yet timed.

Only in a worker process, and in one of its own where kernels are interpreted: Triton decides that
when it is imported.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import sizes_of
from profiling.codegen.kernel import LibraryError
from profiling.codegen.triton_source import TritonProgram, triton_program

Array = NDArray[Any]
HOPPER = 90
"""The compute capability that is compiled for, times ten."""
_WARP = 32
_LONGEST_ERROR = 200
_MODULE = "triton_kernels"
SOURCE_FILE = f"{_MODULE}.py"
"""Name of the program's file, which Triton's code refers to."""


@dataclass(frozen=True, slots=True)
class TritonBinary:
    """A kernel of a program, compiled.

    Attributes:
        ttir: Triton's own program, as text.
        ttgir: the same with layouts in threads.
        ptx: as text.
        cubin: what a driver loads.
        shared_bytes: of shared memory that a block takes.
        log: what ptxas says of registers and of what it spills.
    """

    name: str
    ttir: str
    ttgir: str
    ptx: str
    cubin: bytes
    shared_bytes: int
    log: str


def triton_missing() -> str:
    """Why Triton cannot be asked; empty if it can."""
    if importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None:
        return "Triton is not installed: pip install passlens[triton]"
    return ""


def supports(algorithm: Algorithm) -> str:
    """Why there are no kernels in Triton for an algorithm, or not here; empty if there are."""
    try:
        triton_program(algorithm)
    except LibraryError as error:
        return error.message
    return triton_missing()


def build(algorithm: Algorithm, folder: Path, capability: int = HOPPER) -> list[TritonBinary]:
    """Compile the kernels of an algorithm; no GPU is needed.

    Args:
        algorithm: what they compute.
        folder: gets the source.
        capability: of the GPU, times ten.

    Raises:
        LibraryError: Triton is missing, or cannot compute this.
    """
    program = triton_program(algorithm)
    module = _imported(program, folder, interpreted=False)
    compiler: Any = importlib.import_module("triton.compiler")
    target: Any = importlib.import_module("triton.backends.compiler").GPUTarget
    found: list[TritonBinary] = []
    for kernel in program.kernels:
        source = compiler.ASTSource(
            fn=getattr(module, kernel.name), signature=dict(program.arguments), constexprs={}
        )
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                made = compiler.compile(source, target=target("cuda", capability, _WARP))
        except compiler.CompilationError as error:
            reason = str(error).splitlines()[-1][:_LONGEST_ERROR]
            raise LibraryError(f"Triton does not compile this: {reason}") from error
        shared = int(made.metadata.shared)
        ttir, ttgir, ptx = (str(made.asm[form]) for form in ("ttir", "ttgir", "ptx"))
        cubin = bytes(made.asm["cubin"])
        log = said.getvalue()
        found.append(TritonBinary(kernel.name, ttir, ttgir, ptx, cubin, shared, log))
    return found


def run(algorithm: Algorithm, cases: Sequence[Sequence[Array]], folder: Path) -> list[list[Array]]:
    """What the kernels give, interpreted on the CPU: to be checked, never to be timed.

    Args:
        algorithm: what they compute.
        cases: inputs of each run.
        folder: gets the source.

    Raises:
        LibraryError: Triton is missing, or cannot compute this.
    """
    program = triton_program(algorithm)
    module = _imported(program, folder, interpreted=True)
    return [_run_once(program, algorithm, module, inputs) for inputs in cases]


def _run_once(
    program: TritonProgram, algorithm: Algorithm, module: Any, inputs: Sequence[Array]
) -> list[Array]:
    torch: Any = importlib.import_module("torch")
    sizes = sizes_of(algorithm, inputs)

    def number(extent: Dimension) -> int:
        found = extent if isinstance(extent, int) else extent.evaluate(sizes)
        assert isinstance(found, int), "inputs say all sizes"
        return found

    funcs = [algorithm.by_name[name] for name in algorithm.outputs]
    outputs = [np.zeros([number(size) for size in f.shape], f.dtype.numpy()) for f in funcs]
    held = [torch.from_numpy(np.ascontiguousarray(one)) for one in (*inputs, *outputs)]
    given = [*held, *(sizes[name] for name in algorithm.free_sizes)]
    for kernel in program.kernels:
        grid = tuple(-(-number(extent) // block) for extent, block in kernel.blocks)
        if math.prod(grid):
            getattr(module, kernel.name)[grid](*given)
    return outputs


def _imported(program: TritonProgram, folder: Path, *, interpreted: bool) -> Any:
    """The program's file as a module: Triton reads its text."""
    missing = triton_missing()
    if missing:
        raise LibraryError(f"{missing}.")
    _set_up(
        {
            "TRITON_INTERPRET": str(int(interpreted)),
            "TRITON_CACHE_DIR": str(folder / "cache"),
            "TRITON_DUMP_PTXAS_LOG": "1",
        }
    )
    path = folder / SOURCE_FILE
    path.write_text(program.source)
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    assert spec is not None, "a file in Python"
    assert spec.loader is not None, "a file in Python"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _set_up(variables: Mapping[str, str]) -> None:
    if "triton" in sys.modules and any(os.environ.get(k) != v for k, v in variables.items()):
        raise LibraryError("Triton was imported for another purpose: take another process.")
    os.environ.update(variables)
