"""The folder with a model and its kernels, run by a Python and a C that know no Passlens."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from optimizer.errors import StudioError
from profiling.codegen.compiler import compiler, compiler_missing
from profiling.config.advice import SLOW_FUSIONS
from profiling.workers import WorkerPool
from studio.export.kernels import export_kernels
from tests.optimizer.graphs import parsed
from tests.optimizer.running import run
from tests.profiling.codegen import generated_models as made

Array = np.ndarray[Any, Any]
FRESH = (
    "import sys, runpy; paths, *sys.argv = sys.argv[1:]; sys.path.append(paths);"
    " runpy.run_path(sys.argv[0], run_name='__main__')"
)
"""A Python without what is installed beside it."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if missing := compiler_missing():
        pytest.skip(missing)
    path = tmp_path_factory.mktemp("model") / "any.onnx"
    path.write_bytes(made.generated_bytes())
    return path


@pytest.fixture(scope="module")
def folder(model: Path, tmp_path_factory: pytest.TempPathFactory, shared_pool: WorkerPool) -> Path:
    folder = tmp_path_factory.mktemp("export") / "kernels"
    names = export_kernels(model, folder, isolate=shared_pool, generator="c")
    assert names == ("SHA256SUMS", "kernels.so", "model.h", "model.onnx", "run.c", "run.py")
    return folder


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ONNX Runtime and NumPy, and nothing else."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("numpy", "onnxruntime"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        package = Path(spec.origin).parent
        (folder / name).symlink_to(package)
        if (libraries := package.with_name(f"{name}.libs")).is_dir():
            (folder / libraries.name).symlink_to(libraries)
    return folder


def _feeds() -> dict[str, Array]:
    """With one image: the program in C takes a free dimension for 1."""
    return {n: array[:1] if n != "w" else array for n, array in made.feeds().items()}


def _python(wheels: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", "-c", FRESH, wheels, *arguments]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def _compiled(folder: Path, wheels: Path) -> subprocess.CompletedProcess[str]:
    """The program of a folder, built and run there."""
    program = folder / "run"
    command = [*compiler().command, "-std=c11", folder / "run.c", "-o", program, "-ldl"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    (runtime,) = (wheels / "onnxruntime" / "capi").glob("libonnxruntime.so*")
    return subprocess.run([str(program), str(runtime)], cwd=folder, capture_output=True, text=True)


def _wanted() -> Array:
    (found,) = run(parsed(made.TEXT), _feeds())
    return found


def test_a_fresh_python_with_the_runtime_alone_gives_what_the_source_gives(
    folder: Path, wheels: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "inputs.npz", allow_pickle=False, **_feeds())
    done = _python(wheels, folder / "run.py", tmp_path / "inputs.npz", tmp_path / "outputs.npz")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "y float32 [1, 12, 64, 64]\n"
    with np.load(tmp_path / "outputs.npz") as found:
        np.testing.assert_allclose(found["y"], _wanted(), rtol=1e-5, atol=1e-6)


def test_a_library_that_was_changed_or_is_gone_is_said_before_it_is_loaded(
    folder: Path, wheels: Path
) -> None:
    library = folder / "kernels.so"
    whole = library.read_bytes()
    try:
        library.write_bytes(whole[:-1])
        assert "kernels.so is missing or was changed" in _python(wheels, folder / "run.py").stderr
        library.unlink()
        assert "kernels.so is missing or was changed" in _python(wheels, folder / "run.py").stderr
    finally:
        library.write_bytes(whole)
    assert _python(wheels, folder / "run.py").returncode == 0


def test_a_program_in_c_gives_what_the_source_gives(
    folder: Path, wheels: Path, tmp_path: Path
) -> None:
    for name in ("model.onnx", "kernels.so", "run.c", "model.h"):
        (tmp_path / name).symlink_to(folder / name)
    for number, array in enumerate(_feeds().values()):
        (tmp_path / f"input_{number}.bin").write_bytes(array.tobytes())
    done = _compiled(tmp_path, wheels)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"y: {12 * 64 * 64} elements\n"
    found = np.frombuffer((tmp_path / "output_0.bin").read_bytes(), np.float32)
    wanted = _wanted()
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-6)


BIASED = """g (float[4,8] x) => (float[4,8] y) {
    b = Add(x, v)
    y = com.microsoft.Gelu(b)
}"""


def test_both_programs_leave_out_the_slow_fusions(
    folder: Path, wheels: Path, tmp_path: Path
) -> None:
    """Each is made to write what the runtime makes of a model with one of them."""
    assert all(name in (folder / "run.py").read_text() for name in SLOW_FUSIONS)
    model = BIASED.replace(
        "g (", '<ir_version: 10, opset_import: ["": 17, "com.microsoft": 1]> g ('
    )
    biased = onnx.parser.parse_model(model)
    biased.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(8, np.float32), "v"))
    onnx.save(biased, tmp_path / "model.onnx")
    (tmp_path / "kernels.so").symlink_to(folder / "kernels.so")
    (tmp_path / "model.h").write_text(
        "enum { INPUTS = 1, OUTPUTS = 1 };\n"
        "static const struct { size_t rank, bytes; int type; int64_t extents[2]; } inputs[] = "
        "{{2, 128, 1, {4, 8}}};\n"
        'static const char *const input_names[] = {"x"}, *const output_names[] = {"y"};\n'
        "static const size_t output_bytes[] = {4};\n"
    )
    program, begun = (folder / "run.c").read_text(), "check(api[7](env"
    writing = 'check(api[11](options, "optimized.onnx")); '  # SetOptimizedModelFilePath
    (tmp_path / "run.c").write_text(program.replace(begun, writing + begun))
    done = _compiled(tmp_path, wheels)
    assert done.returncode == 0, done.stderr
    operators = {node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node}
    assert "Gelu" in operators
    assert "BiasGelu" not in operators


def test_a_folder_that_is_not_empty_and_a_model_without_kernels_are_refused(
    model: Path, folder: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    with pytest.raises(StudioError, match="is not empty; name another one"):
        export_kernels(model, folder, isolate=shared_pool, generator="c")
    plain = tmp_path / "plain.onnx"
    plain.write_bytes(made.source_bytes())
    with pytest.raises(StudioError, match=r"plain\.onnx' has no kernels to export"):
        export_kernels(plain, tmp_path / "out", isolate=shared_pool, generator="c")
    assert [path.name for path in tmp_path.iterdir()] == ["plain.onnx"]
