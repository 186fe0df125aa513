"""A model with its kernels as a folder that needs ONNX Runtime alone, and no Passlens."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import onnx_ir as ir

from optimizer.errors import StudioError, quoted
from optimizer.isolation import Isolate
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from profiling.codegen.kernel import LEVELS
from profiling.codegen.store import Chosen, library_of

MODEL, LIBRARY, CHECKSUMS = "model.onnx", "kernels.so", "SHA256SUMS"
_SNIPPETS = Path(__file__).parent / "snippets"


def export_kernels(
    model: Path, folder: Path, *, isolate: Isolate, generator: Chosen = "halide"
) -> tuple[str, ...]:
    """Write a model, the library of its kernels, checksums and two programs that run them.

    Args:
        model: a file with generated functions.
        folder: is made; one that is there must be empty.
        isolate: where compilers run.
        generator: who writes the kernels' code; functions that are not named run as they are.

    Returns:
        The names of the files.

    Raises:
        StudioError: no kernel, no compiler, or the folder cannot be written.
    """
    library = isolate(library_of, model, generator, LEVELS)
    if library is None:
        raise StudioError(f"{quoted(model)} has no kernels to export.")
    loaded = load_path(model)
    try:
        check_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write(loaded.ir, folder / MODEL)
        shutil.copyfile(library, folder / LIBRARY)
        (folder / "model.h").write_text(_header(loaded.ir.graph))
        shutil.copyfile(_SNIPPETS / "run.c", folder / "run.c")
        shutil.copyfile(_SNIPPETS / "run.py.txt", folder / "run.py")
        _write_checksums(folder)
    except OSError as error:
        raise StudioError(f"{quoted(folder)} cannot be written: {error.strerror}.") from error
    return tuple(sorted(path.name for path in folder.iterdir()))


def check_folder(folder: Path) -> None:
    """Whether a folder can be written: none is there yet, or an empty one.

    Raises:
        StudioError: it cannot.
    """
    if folder.exists() and not folder.is_dir():
        raise StudioError(f"{quoted(folder)} is a file; name a folder.")
    if folder.is_dir() and any(folder.iterdir()):
        raise StudioError(f"The folder {quoted(folder)} is not empty; name another one.")


def _write_checksums(folder: Path) -> None:
    """In the form that `sha256sum --check` reads."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
    ]
    (folder / CHECKSUMS).write_text("".join(lines))


def _header(graph: ir.Graph) -> str:
    """What the program in C must know of the model; free dimensions are 1."""
    inputs = [value for value in graph.inputs if value.name not in graph.initializers]
    rows = [_row(value) for value in inputs]
    rank = max([1, *(len(value.shape or ()) for value in inputs)])
    sizes = [str(value.dtype.itemsize if value.dtype else 0) for value in graph.outputs]
    return "\n".join([
        f"enum {{ INPUTS = {len(inputs)}, OUTPUTS = {len(graph.outputs)} }};",
        "/* Element types are ONNX's; free dimensions are 1: change them here, and the bytes. */",
        "static const struct {",
        f"  size_t rank, bytes; int type; int64_t extents[{rank}];",
        "} inputs[] = {",
        *rows,
        "};",
        f"static const char *const input_names[] = {{{_names(inputs)}}};",
        f"static const char *const output_names[] = {{{_names(graph.outputs)}}};",
        f"static const size_t output_bytes[] = {{{', '.join(sizes)}}};",
        "",
    ])  # fmt: skip


def _row(value: ir.Value) -> str:
    shape = [size if isinstance(size, int) else 1 for size in value.shape or ()]
    dtype = value.dtype or ir.DataType.FLOAT
    size_bytes = math.prod(shape) * int(dtype.itemsize)
    extents = ", ".join(map(str, shape)) or "0"
    return f"  {{{len(shape)}, {size_bytes}, {dtype.value}, {{{extents}}}}},"


def _names(values: Sequence[ir.Value]) -> str:
    """Names as strings of C."""
    return ", ".join(json.dumps(value.name or "") for value in values)
