"""Kernels compiled by Halide and called without ONNX Runtime: what tests run in a worker."""

from __future__ import annotations

import ctypes
import mmap
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import sizes_of
from optimizer.loops.schedule import Schedule
from profiling.codegen.halide_object import compile_object
from profiling.codegen.kernel import CpuLevel

Array = NDArray[Any]

_RUNTIME = r"""
#include <stdint.h>
#include <stdlib.h>
int halide_do_par_for(void *uc, int (*f)(void *, int, uint8_t *), int min, int size, uint8_t *c) {
  for (int i = min; i < min + size; i++) { int r = f(uc, i, c); if (r) return r; }
  return 0;
}
void *halide_malloc(void *uc, size_t n) { return aligned_alloc(128, (n + 127) / 128 * 128); }
void halide_free(void *uc, void *p) { free(p); }
"""


class _Dim(ctypes.Structure):
    _fields_ = (
        ("min", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    )  # fmt: skip


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("device", ctypes.c_uint64), ("interface", ctypes.c_void_p), ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(_Dim)), ("padding", ctypes.c_void_p),
    )  # fmt: skip


class CompiledKernel:
    """A kernel in this process."""

    def __init__(self, algorithm: Algorithm, schedule: Schedule, level: CpuLevel) -> None:
        here = Path.cwd()
        name = f"k{len(list(here.glob('k*.o')))}"
        made = compile_object(algorithm, schedule, name, level, here)
        (here / "runtime.c").write_text(_RUNTIME)
        library = here / f"{name}.so"
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-o", library, "runtime.c", made, "-lm"],  # noqa: S607
            check=True,
        )
        self._algorithm = algorithm
        self._function = getattr(ctypes.CDLL(str(library)), name)

    def __call__(self, inputs: Sequence[Array]) -> list[Array]:
        """The outputs."""
        outputs = self.empty_outputs(inputs)
        self.into(inputs, outputs)
        return outputs

    def empty_outputs(self, inputs: Sequence[Array]) -> list[Array]:
        sizes = sizes_of(self._algorithm, inputs)

        def number(size: Dimension) -> int:
            found = size if isinstance(size, int) else size.evaluate(sizes)
            assert isinstance(found, int)
            return found

        funcs = [self._algorithm.by_name[name] for name in self._algorithm.outputs]
        return [
            np.full([number(size) for size in one.shape], 77, one.dtype.numpy()) for one in funcs
        ]

    def into(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute outputs; whoever reads or writes past the end of a tensor ends the process."""
        guarded = [_before_a_forbidden_page(one) for one in (*inputs, *outputs)]
        buffers = [_buffer(one) for one in guarded]
        status = self._function(None, *(ctypes.byref(one) for one in buffers))
        assert status == 0
        for one, computed in zip(outputs, guarded[len(inputs) :], strict=True):
            one[...] = computed


def _before_a_forbidden_page(array: Array) -> Array:
    """A copy that ends where memory ends that may be read."""
    size = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, size + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(start + size), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    made = np.frombuffer(pages, array.dtype, array.size, size - array.nbytes).reshape(array.shape)
    made[...] = array
    return made


def _buffer(array: Array) -> _Buffer:
    dims = (_Dim * max(array.ndim, 1))()
    stride = 1
    for number, extent in enumerate(reversed(array.shape)):
        dims[number] = _Dim(0, extent, stride, 0)
        stride *= extent
    made = _Buffer(0, None, array.ctypes.data, 0, 2, 32, 1, array.ndim, dims, None)
    made.array = array  # kept as long as the buffer
    return made


def results(
    algorithm: Algorithm,
    schedule: Schedule,
    levels: Sequence[CpuLevel],
    cases: Sequence[Sequence[Array]],
) -> list[list[list[Array]]]:
    """Outputs by level and case."""
    kernels = [CompiledKernel(algorithm, schedule, level) for level in levels]
    return [[kernel(inputs) for inputs in cases] for kernel in kernels]
