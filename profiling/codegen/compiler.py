"""The C compiler there is: `cc`, or Zig's, which comes as a wheel. Only in a worker process."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import quoted
from profiling.cache.folder import cache_folder
from profiling.codegen.kernel import CpuLevel, LibraryError

SHIM = Path(__file__).parent / "shim"
"""The C that is the same in every library."""

ZIG = "zig"
"""The cache's folder of what Zig keeps."""

_SECONDS = 300.0
"""Zig compiles parts of the C library the first time: 11 s, on a busy machine 100."""
_FLAGS = (
    "-O3", "-std=gnu11", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", f"-I{SHIM}",
)  # fmt: skip
_LEVEL_FLAGS: Mapping[CpuLevel, tuple[str, ...]] = {
    "baseline": ("-march=x86-64", "-msse4.1"),
    "avx2": ("-march=x86-64", "-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2"),
    "avx512": (
        "-march=x86-64", "-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2", "-mavx512f",
        "-mavx512dq", "-mavx512cd", "-mavx512bw", "-mavx512vl",
    ),
}  # fmt: skip
_ZIG_LEVEL_FLAGS: Mapping[CpuLevel, tuple[str, ...]] = {
    "baseline": ("-mcpu=x86_64+sse4_1",),
    "avx2": ("-mcpu=x86_64_v3",),
    "avx512": ("-mcpu=x86_64_v4",),
}


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler.

    Attributes:
        command: what to run.
        is_zig: whether its options are Zig's.
    """

    command: tuple[str, ...]
    is_zig: bool


def compiler() -> Compiler:
    """The compiler of this machine.

    Raises:
        LibraryError: there is none, or no kernels are made for this machine.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise LibraryError(
            "Generated kernels are made for Linux on x86-64; this is "
            f"{platform.system()} on {platform.machine()}."
        )
    if (path := shutil.which("cc")) is not None:
        return Compiler((path,), is_zig=False)
    if importlib.util.find_spec("ziglang") is not None:
        return Compiler((sys.executable, "-m", "ziglang", "cc"), is_zig=True)
    raise LibraryError(
        "There is no C compiler for generated kernels: install ziglang with pip, or a `cc`."
    )


def compiler_missing() -> str:
    """Why kernels cannot be compiled here; empty where they can."""
    try:
        compiler()
    except LibraryError as error:
        return error.message
    return ""


def compile_c(source: Path, made: Path, *, level: CpuLevel, what: str) -> None:
    """Compile one file in C.

    Args:
        source: the file.
        made: the object file to write.
        level: what it may use of the processor.
        what: of which it is told in an error.

    Raises:
        LibraryError: there is no compiler, or it refuses the file.
    """
    found = compiler()
    flags = (_ZIG_LEVEL_FLAGS if found.is_zig else _LEVEL_FLAGS)[level]
    _run(found, [*_FLAGS, *flags, "-c", str(source), "-o", str(made)], what)


def link(objects: Iterable[Path], made: Path) -> None:
    """A shared library of object files, which shows nothing but its entry.

    Raises:
        LibraryError: there is no compiler, or something is missing.
    """
    exports = f"-Wl,--version-script={SHIM / 'exports.map'}"
    files = [str(one) for one in objects]
    _run(
        compiler(),
        ["-shared", exports, "-Wl,-z,defs", *files, "-lm", "-o", str(made)],
        "the library of kernels",
    )


def _run(found: Compiler, arguments: Sequence[str], what: str) -> None:
    try:
        done = subprocess.run(
            [*found.command, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            env=_environment(),
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise LibraryError(f"The C compiler was stopped after {_SECONDS:g} s, at {what}.") from None
    except OSError as error:
        raise LibraryError(f"The C compiler cannot be run: {error.strerror}.") from error
    if done.returncode:
        raise LibraryError(
            f"The C compiler refuses {what}: {quoted(_complaint(done.stderr), limit=200)}."
        )


def _environment() -> dict[str, str]:
    """Zig keeps what it has compiled of the C library, 60 MB."""
    folder = str(cache_folder() / ZIG)
    return {
        **os.environ,
        "LC_ALL": "C",
        "ZIG_GLOBAL_CACHE_DIR": folder,
        "ZIG_LOCAL_CACHE_DIR": folder,
    }


def _complaint(text: str) -> str:
    """What it says first that is an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if "error" in line or "undefined" in line]
    return next(iter([*wrong, *lines]), "without a word")
