"""Large models are run in little memory."""

from __future__ import annotations

from pathlib import Path

import onnx.parser
from onnx import TensorProto

from optimizer.limits import MIB
from optimizer.verify import jobs
from optimizer.verify.comparison import Tolerance
from optimizer.verify.memory import LARGE_BYTES
from profiling.workers import WorkerPool

LAYERS, SIDE = 20, 1400
WEIGHT_BYTES = SIDE * SIDE * 4


def transposing(folder: Path) -> Path:
    """A model that transposes its weights, as exporters write them, with holes for weights."""
    lines = [f"t{i} = Transpose(w{i}) x{i + 1} = MatMul(x{i}, t{i})" for i in range(LAYERS)]
    body = " ".join(lines)
    text = f"g (float[1,{SIDE}] x0) => (float[1,{SIDE}] x{LAYERS}) {{ {body} }}"
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]>\n{text}')
    for i in range(LAYERS):
        weight = model.graph.initializer.add(
            name=f"w{i}", data_type=1, dims=[SIDE, SIDE], data_location=TensorProto.EXTERNAL
        )
        place = {"location": "w", "offset": str(i * WEIGHT_BYTES), "length": str(WEIGHT_BYTES)}
        for key, value in place.items():
            weight.external_data.add(key=key, value=value)
    with (folder / "w").open("wb") as data:
        data.truncate(LAYERS * WEIGHT_BYTES)
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def peak_growth(path: Path) -> int:
    """By how many bytes the resident memory of this process grows at most in a check."""
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again from here
    before = high_water_bytes()
    _, found = jobs.verify_models(path, path, jobs.Request(), Tolerance())
    assert found.failure == ""
    assert found.outputs[0].ok
    return high_water_bytes() - before


def high_water_bytes() -> int:
    """The largest resident set of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def test_weights_that_a_large_model_transposes_itself_are_not_all_in_memory_at_once(
    isolate: WorkerPool, tmp_path: Path
) -> None:
    weights = LAYERS * WEIGHT_BYTES
    assert weights > LARGE_BYTES
    grown = isolate(peak_growth, transposing(tmp_path))
    assert weights / 2 < grown < weights + 64 * MIB
