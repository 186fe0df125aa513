"""The code of an algorithm for a GPU, by Triton, on its way to the machine.

Only in a worker, in one of its own. The order of loops is Triton's: no schedule is asked.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Literal, get_args

from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm
from profiling.codegen.kernel import LibraryError
from profiling.codegen.triton_candidate import HOPPER, TritonBinary, build
from profiling.codegen.triton_source import triton_program

GpuView = Literal["triton", "ttir", "ttgir", "ptx", "sass"]
"""A program in Triton's Python, as Triton reads it, the same with layouts in threads, NVIDIA's
portable code, its machine code."""
GPU_VIEWS: tuple[GpuView, ...] = get_args(GpuView)
LIMITS = JobLimits(seconds=120, memory_bytes=16384 * MIB)
"""Of importing Triton and PyTorch, and compiling."""
_DISASSEMBLY_S = 30


def gpu_code(algorithm: Algorithm, capability: int = HOPPER) -> dict[GpuView, str]:
    """The code of all kernels at all levels; no GPU is needed.

    Args:
        algorithm: what they compute.
        capability: of the GPU, times ten.

    Raises:
        LibraryError: Triton is missing, or cannot compute this.
    """
    source = triton_program(algorithm).source
    with tempfile.TemporaryDirectory() as folder:
        kernels = build(algorithm, Path(folder), capability)
        return {
            "triton": source,
            "ttir": "\n\n".join(one.ttir for one in kernels),
            "ttgir": "\n\n".join(one.ttgir for one in kernels),
            "ptx": "\n\n".join(one.ptx.strip() for one in kernels),
            "sass": "\n\n".join(disassembled(one, Path(folder)) for one in kernels),
        }


def nvdisasm() -> str:
    """The program that writes machine code as text: Triton brings it along, CUDA too.

    Raises:
        LibraryError: there is none.
    """
    backend = importlib.import_module("triton.backends.nvidia").__path__[0]
    own = Path(backend, "bin", "nvdisasm")
    found = str(own) if own.exists() else shutil.which("nvdisasm")
    if found is None:
        raise LibraryError(
            "There is no nvdisasm, which writes machine code as text: it comes with Triton's "
            "wheels and with the CUDA Toolkit."
        )
    return found


def disassembled(kernel: TritonBinary, folder: Path, *options: str) -> str:
    """Machine code as text.

    Args:
        kernel: of whatever architecture.
        folder: for a file.
        options: of nvdisasm, besides.

    Raises:
        LibraryError: there is no nvdisasm, or it cannot read this.
    """
    path = folder / f"{kernel.name}.cubin"
    path.write_bytes(kernel.cubin)
    command = [nvdisasm(), "--print-code", *options, str(path)]
    try:
        made = subprocess.run(
            command, capture_output=True, text=True, timeout=_DISASSEMBLY_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise LibraryError(f"nvdisasm was stopped after {_DISASSEMBLY_S} s.") from error
    if made.returncode:
        raise LibraryError(f"nvdisasm ended with {made.returncode}: {made.stderr.strip()[:200]}")
    return made.stdout
