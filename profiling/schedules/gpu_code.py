"""The code of an algorithm for a GPU, by Triton, on its way to the machine.

Only in a worker, in one of its own. The order of loops is Triton's: no schedule is asked.
"""

from __future__ import annotations

import importlib
import subprocess
import tempfile
from pathlib import Path
from typing import Literal, get_args

from optimizer.loops.algorithm import Algorithm
from profiling.codegen.kernel import LibraryError
from profiling.codegen.triton_candidate import HOPPER, TritonBinary, build
from profiling.codegen.triton_source import triton_program

GpuView = Literal["triton", "ttir", "ttgir", "ptx", "sass"]
"""A program in Triton's Python, as Triton reads it, the same with layouts in threads, NVIDIA's
portable code, its machine code."""
GPU_VIEWS: tuple[GpuView, ...] = get_args(GpuView)
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
            "sass": "\n\n".join(_disassembled(one, Path(folder)) for one in kernels),
        }


def _disassembled(kernel: TritonBinary, folder: Path) -> str:
    """Machine code as text, by the program that comes with Triton."""
    backend = importlib.import_module("triton.backends.nvidia").__path__[0]
    program, path = Path(backend, "bin", "nvdisasm"), folder / f"{kernel.name}.cubin"
    if not program.exists():
        raise LibraryError("This Triton has no nvdisasm, which writes machine code as text.")
    path.write_bytes(kernel.cubin)
    command = [str(program), "--print-code", str(path)]
    made = subprocess.run(
        command, capture_output=True, text=True, timeout=_DISASSEMBLY_S, check=False
    )
    if made.returncode:
        raise LibraryError(f"nvdisasm ended with {made.returncode}: {made.stderr.strip()[:200]}")
    return made.stdout
