"""A kernel by TVM as an object file that the table of a library can call. Only in a worker."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optimizer.errors import quoted
from optimizer.loops.algorithm import Algorithm
from profiling.codegen.compiler import compile_c, compiler
from profiling.codegen.kernel import CpuLevel, Kernel, KernelRefused, LibraryError
from profiling.codegen.kernel_table import symbol
from profiling.tvm.primitive import primitive
from profiling.tvm.scalars import type_of

_PROCESSORS: Mapping[CpuLevel, str] = {
    "baseline": "nehalem", "avx2": "haswell", "avx512": "skylake-avx512",
}  # fmt: skip
_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}
"""Codes of element types, by the first letter of TVM's names for them."""
_SECONDS = 60.0
_RUNTIME = """#include "abi.h"
#include <stdlib.h>

/* TVM's calling convention. Source: dlpack.h and tvm/ffi/c_api.h of apache-tvm-ffi 0.1. */
struct type { uint8_t code, bits; uint16_t lanes; };
struct tensor {
  void *data;
  int32_t device, device_id, rank;
  struct type type;
  int64_t *shape, *strides;
  uint64_t offset;
};
struct argument { int32_t kind; uint32_t zero; union { int64_t number; void *pointer; } value; };
enum { CPU = 1, NUMBER = 1, TENSOR = 7 };

#define OURS __attribute__((weak, visibility("hidden")))
OURS _Thread_local void *tvm_context;
OURS void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *text) {
  (void)kind, (void)text;
}
OURS void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count) {
  (void)kind, (void)parts, (void)count;
}
OURS void *TVMBackendAllocWorkspace(int device, int id, uint64_t bytes, int code, int bits) {
  (void)device, (void)id, (void)code, (void)bits;
  void *found = 0;
  return posix_memalign(&found, 64, bytes ? bytes : 64) ? 0 : found;
}
OURS int TVMBackendFreeWorkspace(int device, int id, void *memory) {
  (void)device, (void)id;
  free(memory);
  return 0;
}

struct group { void *sync; int32_t tasks; };
typedef int (*body)(int number, struct group *, void *closure);
struct task { body call; void *closure; struct group group; };
static int one_task(void *context, int number, uint8_t *closure) {
  struct task *task = (struct task *)closure;
  tvm_context = context;
  return task->call(number, &task->group, task->closure);
}
OURS int TVMBackendParallelLaunch(body call, void *closure, int count) {
  struct task task = {call, closure, {0, count > 0 ? count : 16}};
  return halide_do_par_for(tvm_context, one_task, 0, task.group.tasks, (uint8_t *)&task);
}

/* Where code by TVM finds what it calls; a kernel that calls none of one kind lacks its place. */
#define PLACE extern __attribute__((weak, visibility("default")))
PLACE void *__TVMBackendParallelLaunch;
PLACE void *__TVMBackendAllocWorkspace;
PLACE void *__TVMBackendFreeWorkspace;
static void connect(void *context) {
  tvm_context = context;
  if (&__TVMBackendParallelLaunch) __TVMBackendParallelLaunch = (void *)TVMBackendParallelLaunch;
  if (&__TVMBackendAllocWorkspace) __TVMBackendAllocWorkspace = (void *)TVMBackendAllocWorkspace;
  if (&__TVMBackendFreeWorkspace) __TVMBackendFreeWorkspace = (void *)TVMBackendFreeWorkspace;
}
"""


def tvm_missing() -> str:
    """Why TVM cannot be asked; empty if it can."""
    if importlib.util.find_spec("tvm") is None:
        return "TVM is not installed: pip install passlens[tvm]"
    return ""


def compiled_by_tvm(kernel: Kernel, level: CpuLevel, folder: Path) -> Path:
    """An object file of a kernel with its function as a library's table calls it.

    Raises:
        KernelRefused: TVM cannot compute this one.
        LibraryError: TVM or a compiler is missing.
    """
    if tvm_missing():
        raise LibraryError(f"{tvm_missing()}.")
    name = symbol(kernel, level)
    code, called, made = (folder / f"{name}{end}.o" for end in ("_tvm", "_call", ""))
    tvm: Any = importlib.import_module("tvm")
    target = {"kind": "llvm", "mcpu": _PROCESSORS[level]}
    try:
        module = tvm.compile(primitive(kernel.algorithm, f"{name}_tvm"), target=target)
        module.mod.write_to_file(str(code), "o")
    except LibraryError:
        raise
    except Exception as error:  # TVM has a dozen classes for this
        told = " ".join(str(error).split()) or type(error).__name__
        raise KernelRefused(f"TVM refuses it: {quoted(told, limit=200)}") from error
    source = folder / f"{name}.c"
    source.write_text(_RUNTIME + _call(kernel.algorithm, name))
    compile_c(source, called, level=level, what=f"the call of kernel {name}")
    _joined([code, called], made)
    return made


def _joined(parts: list[Path], made: Path) -> None:
    command = [*compiler().command, "-r", "-nostdlib", *map(str, parts), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        raise LibraryError(f"Object files cannot be joined: {quoted(done.stderr, limit=200)}.")


def _call(algorithm: Algorithm, name: str) -> str:
    """The kernel's function in C: buffers as TVM's tensors, then the free sizes."""
    outputs = [algorithm.by_name[one] for one in algorithm.outputs]
    tensors = [(one.dtype, len(one.shape)) for one in (*algorithm.inputs, *outputs)]
    count, places = len(tensors), [*algorithm.free_sizes.values()]
    given = ", ".join(f"halide_buffer_t *b{number}" for number in range(count))
    lines = [
        f"\nint __tvm_ffi_{name}_tvm(void *, struct argument *, int, struct argument *);",
        f"int {name}(void *context, {given}) {{",
        f"  struct tensor tensors[{count}];",
        f"  struct argument arguments[{count + len(places)}], result = {{0}};",
    ]
    for number, (dtype, rank) in enumerate(tensors):
        kind = type_of(dtype)
        bits = 8 if kind == "bool" else int("".join(one for one in kind if one.isdigit()))
        extents = [f"b{number}->dim[{rank - 1 - axis}].extent" for axis in range(rank)]
        lines += [
            f"  int64_t shape{number}[] = {{{', '.join(extents) or 0}}};",
            f"  tensors[{number}] = (struct tensor){{b{number}->host, CPU, 0, {rank}, "
            f"{{{_KINDS[kind[0]]}, {bits}, 1}}, shape{number}, 0, 0}};",
            f"  arguments[{number}] = (struct argument){{TENSOR, 0, "
            f"{{.pointer = &tensors[{number}]}}}};",
        ]
    for number, (tensor, axis) in enumerate(places, start=count):
        lines.append(
            f"  arguments[{number}] = (struct argument){{NUMBER, 0, "
            f"{{.number = shape{tensor}[{axis}]}}}};"
        )
    lines += [
        "  connect(context);",
        f"  return __tvm_ffi_{name}_tvm(0, arguments, {count + len(places)}, &result);",
        "}",
        "",
    ]
    return "\n".join(lines)
