"""What `benchmarks.quantization` runs in processes of its own: another tool, and the measuring.

    python -m benchmarks.quantization_work theirs SOURCE FOLDER STATIC DYNAMIC --operators LIST
    python -m benchmarks.quantization_work race REQUEST.json

The first quantizes by `onnxruntime.quantization`, with the settings that do best in it; `SOURCE` is
of opset 13 or newer, or is brought there by ONNX's converter. The second prints JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import onnxruntime as ort
from onnx import version_converter
from onnxruntime import quantization as tool
from onnxruntime.quantization import shape_inference

from optimizer.verify import Comparison, Tolerance
from optimizer.verify.comparison import compare, pooled

CALIBRATION = 8
OPSET = 13
Feeds = Mapping[str, np.ndarray]


def samples(folder: Path) -> list[dict[str, np.ndarray]]:
    """Inputs by name, file by file."""
    return [dict(np.load(path)) for path in sorted(folder.glob("*.npz"))]


def theirs(source: Path, folder: Path, targets: Sequence[Path], operators: Sequence[str]) -> None:
    """Static and dynamic quantization by the runtime's own tool; no operators for all it knows."""
    static, dynamic = targets
    extra = {"MatMulConstBOnly": True}
    with tempfile.TemporaryDirectory() as work:
        prepared = Path(work) / "prepared.onnx"
        model = onnx.load(source)
        if max(entry.version for entry in model.opset_import if not entry.domain) < OPSET:
            source = Path(work) / "raised.onnx"
            onnx.save(version_converter.convert_version(model, OPSET), source)
        shape_inference.quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        tool.quantize_static(
            str(prepared),
            str(static),
            _Reader(samples(folder)[:CALIBRATION]),
            quant_format=tool.QuantFormat.QDQ,
            per_channel=True,
            activation_type=tool.QuantType.QUInt8,
            weight_type=tool.QuantType.QInt8,
            op_types_to_quantize=list(operators) or None,
            extra_options=extra,
        )
        tool.quantize_dynamic(
            str(prepared),
            str(dynamic),
            per_channel=True,
            weight_type=tool.QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gemm"],
            extra_options=extra,
        )


class _Reader(tool.CalibrationDataReader):
    """Calibration inputs, one after the other."""

    def __init__(self, feeds: Sequence[dict[str, np.ndarray]]) -> None:
        self._feeds = iter(feeds)

    def get_next(self) -> dict[str, np.ndarray]:
        """The next inputs; None after the last."""
        return next(self._feeds, None)  # pyright: ignore[reportReturnType] - the tool stops at None


def race(files: Mapping[str, str], folder: Path, rounds: int) -> list[dict[str, Any]]:
    """CPU time of one thread and errors of every file, the first being the source.

    The files take turns in one process, in an order that rotates; errors are on the samples that
    were not used for calibration.
    """
    sessions = {label: _session(path) for label, path in files.items()}
    held_out = samples(folder)[CALIBRATION:]
    labels, first = list(sessions), next(iter(sessions))
    errors = {label: _errors(sessions[first], sessions[label], held_out) for label in labels}
    times: dict[str, list[float]] = {label: [] for label in labels}
    for number in range(rounds):
        turn = number % len(labels)
        for label in [*labels[turn:], *labels[:turn]]:
            began = time.process_time()
            sessions[label].run(None, held_out[0])
            times[label].append(1000 * (time.process_time() - began))
    return [
        {
            "label": label,
            "speed": statistics.median(
                one / other for one, other in zip(times[first], times[label], strict=True)
            ),
            "ms": statistics.median(times[label]),
            "bytes": Path(files[label]).stat().st_size,
            "sqnr_db": min(output.sqnr_db for output in errors[label]),
            "worst_sqnr_db": min(output.worst_db for output in errors[label]),
            "scaled": max(output.scaled for output in errors[label]),
        }
        for label in labels
    ]


def _session(path: str) -> Any:
    options = cast("Any", ort.SessionOptions())
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _errors(source: Any, other: Any, feeds: Sequence[Feeds]) -> tuple[Comparison, ...]:
    """Each output over all samples."""
    names = [output.name for output in source.get_outputs()]
    found: tuple[Comparison, ...] = ()
    for each in feeds:
        one = compare(
            dict(zip(names, source.run(names, each), strict=True)),
            dict(zip(names, other.run(names, each), strict=True)),
            tolerance=Tolerance(),
            random=frozenset(),
        )
        found = pooled(found, one)
    return found


def main(arguments: Sequence[str]) -> None:
    """Either of the two."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quantization_work")
    parser.add_argument("job", choices=("theirs", "race"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--operators", default="")
    options = parser.parse_args(arguments)
    if options.job == "theirs":
        source, folder, *targets = options.paths
        theirs(source, folder, targets, [name for name in options.operators.split(",") if name])
        return
    request = json.loads(options.paths[0].read_text())
    found = race(request["files"], Path(request["folder"]), request["rounds"])
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
