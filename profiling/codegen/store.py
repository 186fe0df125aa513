"""The libraries of models with generated kernels, kept by content in the cache folder.

A library is only ever loaded from there: one that lies beside a model is somebody else's code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from optimizer.constants import is_constant_node
from optimizer.errors import quoted
from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.building import NotGenerated
from optimizer.loops.schedule import Schedule
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.model.generated_functions import KernelBody, generated_names, kernel_bodies
from profiling.cache.atomic_folder import obtain
from profiling.cache.folder import cache_folder
from profiling.codegen.compiler import compiler
from profiling.codegen.kernel import CpuLevel, GeneratorId, Kernel, KernelRefused, LibraryError
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import LIBRARY, build_library, compiled

Chosen = GeneratorId | Mapping[str, GeneratorId]
"""One generator for all kernels of a model, or one for each that is to have code, by its name."""
KERNELS = "kernels"
"""The cache's folder of libraries and object files."""

_ROOT = Path(__file__).parents[2]
_WRITERS = ("profiling/codegen", "optimizer/fusion", "optimizer/loops", "optimizer/operators/loops")
_CODE = frozenset({".py", ".c", ".h", ".map"})
_CHECKSUM = "sha256"
_LEFT_OUT = "left_out"
_DIGITS = 16


def library_of(
    model: Path, generator: Chosen, levels: Sequence[CpuLevel] | None = None
) -> Path | None:
    """The library with a model's generated kernels; built where it is missing or damaged.

    Args:
        model: the file.
        generator: who writes the kernels' code.
        levels: of processors; None for that of this machine alone.

    Returns:
        None where the model has no generated function, or none that this generator has code for:
        the others run as the operators in them (`left_out` says which are refused).

    Raises:
        LibraryError: it cannot be built here.
    """
    folder = _built(model, generator, levels)
    library = None if folder is None else folder / LIBRARY
    return library if library is not None and library.exists() else None


def left_out(
    model: Path, generator: Chosen, levels: Sequence[CpuLevel] | None = None
) -> tuple[str, ...]:
    """Why kernels are not in a model's library though they have loops: a sentence for each.

    Raises:
        LibraryError: the library cannot be built here.
    """
    folder = _built(model, generator, levels)
    told = None if folder is None else folder / _LEFT_OUT
    return tuple(told.read_text().splitlines()) if told is not None and told.exists() else ()


def _built(model: Path, generator: Chosen, levels: Sequence[CpuLevel] | None) -> Path | None:
    """The folder of a model's library; None where it has no generated function.

    Raises:
        LibraryError: it cannot be built here.
    """
    chosen = _chosen(generated_names(model), generator)
    if not chosen:
        return None
    wanted = (cpu_level(),) if levels is None else tuple(levels)
    key = _key("library", *wanted, *(part for one in sorted(chosen.items()) for part in one))
    folder = cache_folder() / KERNELS / f"library-{key}"

    def make(draft: Path) -> None:
        _make(draft, kernels_of(model, chosen), wanted)

    try:
        obtain(folder, make, complete=_is_intact)
    except OSError as error:
        raise LibraryError(
            f"The kernels' library cannot be kept in {quoted(folder.parent)}: {error.strerror}."
        ) from error
    return folder


def build_missing(model: Path | bytes, generator: GeneratorId) -> tuple[str, ...]:
    """Have the library of a model built, so that a session that needs it does not wait for it.

    Returns:
        See `left_out`.

    Raises:
        LibraryError: it cannot be built here.
    """
    if isinstance(model, bytes):
        path = Path("model.onnx").absolute()
        path.write_bytes(model)
        model = path
    return left_out(model, generator)


def kernels_of(model: Path, generator: Chosen) -> list[Kernel]:
    """The kernels of a model that a generator has loops for, in the order of its functions."""
    bodies = kernel_bodies(model)
    found: list[Kernel] = []
    for name, one in _chosen(bodies, generator).items():
        try:
            found.append(_kernel(bodies[name], one))
        except (NotGenerated, NoSchedule):
            continue
    return found


def _chosen(names: Iterable[str], generator: Chosen) -> dict[str, GeneratorId]:
    """Which of a model's functions become kernels, and who writes each."""
    if isinstance(generator, Mapping):
        return {name: generator[name] for name in names if name in generator}
    return dict.fromkeys(names, generator)


def _kernel(body: KernelBody, generator: GeneratorId) -> Kernel:
    """A kernel with the schedule that comes with it, or else its default ones.

    Raises:
        NotGenerated: there are no loops for it.
        NoSchedule: loops would be bad.
    """
    algorithm = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
    schedule = Schedule() if generator == "c" else body.schedule
    if schedule is None:
        default_schedule(algorithm)
    operators = [node.op_type for node in body.nodes if not is_constant_node(node)]
    return Kernel(body.name, algorithm, schedule, generator, ", ".join(operators))


def _make(draft: Path, kernels: Sequence[Kernel], levels: Sequence[CpuLevel]) -> None:
    taken: list[Kernel] = []
    refused: list[str] = []
    for kernel in kernels:
        try:
            for level in levels:
                _object(kernel, level)
            taken.append(kernel)
        except KernelRefused as error:
            refused.append(" ".join(error.message.split()))
    if refused:
        (draft / _LEFT_OUT).write_text("\n".join(refused))
    if taken:
        build_library(taken, draft, levels=levels, compiled_by=_kept)
        (draft / _CHECKSUM).write_text(_checksum(draft / LIBRARY))


def _kept(kernel: Kernel, level: CpuLevel, folder: Path) -> Path:
    """An object file in a folder."""
    made = folder / f"{kernel.name}_{level}.o"
    made.write_bytes(_object(kernel, level).read_bytes())
    return made


def _object(kernel: Kernel, level: CpuLevel) -> Path:
    """An object file that is there, or is made now; copies of a model share them.

    Raises:
        KernelRefused: this kernel has none.
        LibraryError: no kernel can have one here.
    """
    place = cache_folder() / KERNELS / f"object-{_key(kernel.generator, level, kernel.name)}"
    obtain(place, lambda draft: _compile(kernel, level, draft))
    return place / "kernel.o"


def _compile(kernel: Kernel, level: CpuLevel, draft: Path) -> None:
    compiled(kernel, level, draft).rename(draft / "kernel.o")


def _is_intact(folder: Path) -> bool:
    """Whether it holds what was written there: nothing, or a library of the same bytes."""
    if not folder.is_dir():
        return False
    library, checksum = folder / LIBRARY, folder / _CHECKSUM
    if not checksum.exists():
        return not library.exists()
    return library.exists() and checksum.read_text() == _checksum(library)


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _key(*parts: str) -> str:
    """Of what decides about a file: its parts, the generators, the compiler."""
    zig = "zig" if compiler().is_zig else "cc"
    text = "\0".join([zig, code_version(), *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


@lru_cache(maxsize=1)
def code_version() -> str:
    """Of everything that writes kernels: Halide, and the files in which that is said."""
    try:
        digest = hashlib.sha256(version("halide").encode())
    except PackageNotFoundError:
        digest = hashlib.sha256()
    for folder in _WRITERS:
        for file in sorted((_ROOT / folder).rglob("*.*")):
            if file.suffix in _CODE:
                digest.update(file.read_bytes())
    return digest.hexdigest()
