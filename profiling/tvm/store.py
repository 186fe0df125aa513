"""Libraries of kernels by TVM, in the cache folder as those of other generators are."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.building import NotGenerated
from optimizer.loops.schedule import Schedule
from optimizer.model.generated_functions import kernel_bodies
from profiling.cache.atomic_folder import obtain
from profiling.cache.folder import cache_folder
from profiling.codegen.kernel import Kernel, KernelRefused, LibraryError
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import LIBRARY, build_library
from profiling.codegen.store import KERNELS, code_version
from profiling.tvm.objects import compiled_by_tvm, tvm_missing

_CHECKSUM = "sha256"


def library_by_tvm(model: Path) -> Path | None:
    """The library with a model's generated functions by TVM; built where it is missing.

    Returns:
        None where the model has none.

    Raises:
        LibraryError: it cannot be built here, or TVM has no code for one of them.
    """
    kernels: list[Kernel] = []
    for name, body in kernel_bodies(model).items():
        try:
            loops = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
        except NotGenerated as error:
            raise KernelRefused(str(error)) from error
        kernels.append(Kernel(name, loops, Schedule(), "c", "by TVM"))
    if not kernels:
        return None
    if tvm_missing():
        raise LibraryError(f"{tvm_missing()}.")
    names = sorted(kernel.name for kernel in kernels)
    text = "\0".join([code_version(), _version(), cpu_level(), *names])
    folder = cache_folder() / KERNELS / f"tvm-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def make(draft: Path) -> None:
        built = build_library(kernels, draft, levels=[cpu_level()], compiled_by=compiled_by_tvm)
        (draft / _CHECKSUM).write_text(_digest(built))

    obtain(folder, make, complete=_is_intact)
    return folder / LIBRARY


def build_by_tvm(model: bytes) -> None:
    """Have the library of a model built. In a worker.

    Raises:
        LibraryError: it cannot be.
    """
    path = Path("model.onnx").absolute()
    path.write_bytes(model)
    library_by_tvm(path)


def _is_intact(folder: Path) -> bool:
    library, checksum = folder / LIBRARY, folder / _CHECKSUM
    return library.exists() and checksum.exists() and checksum.read_text() == _digest(library)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _version() -> str:
    """Of TVM, and of the files that talk to it."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    try:
        return f"{version('apache-tvm')} {digest.hexdigest()}"
    except PackageNotFoundError:
        return digest.hexdigest()
