"""What calibration costs, and what its entropy method finds, beside onnxruntime.quantization.

    python -m benchmarks.calibration [MODEL.onnx...] [--write FILE]

Each line of the first table is a process of its own: the same generated inputs, every float value
of the main graph, then a range for each. CPU seconds count all threads; memory is the peak resident
set, also above the size of the model's file. Theirs is made by `create_calibrator` with its own
defaults. A run that takes more than ten minutes is stopped and says so.

The second table chooses thresholds for made distributions of 100,000 numbers: theirs as
`quantize_static` calls it (128 bins), and with the 2048 bins of the paper, which no option of
`quantize_static` gives; its time is for one value.

Inputs are random: the tables say what methods cost, nothing about the accuracy of a network.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import describe
from benchmarks.report import MIB, parser, publish, section
from optimizer.errors import plain
from optimizer.precision.histogram import Histogram
from optimizer.precision.observation import ALL, observe_values
from optimizer.precision.samples import Samples
from optimizer.precision.threshold import Integers, find_method
from optimizer.verify.feeds import draw
from optimizer.verify.jobs import Request, accepted_feeds, structure_of
from optimizer.verify.runtime import Session

MODELS = ("mobilenetv2_ts_op12", "resnet50_ts_op13", "bert_base_ts_op14")
SIZES = {"batch": 1, "seq": 64}
SAMPLES = 4
SECONDS = 600.0
SYMMETRIC = Integers(8, symmetric=True)
RUNS = (
    ("ours", "min-max"), ("ours", "percentile"), ("ours", "entropy"), ("ours", "mse"),
    ("theirs", "MinMax"), ("theirs", "Percentile"), ("theirs", "Entropy"),
)  # fmt: skip

Arrays = Mapping[str, NDArray[np.generic]]
Floats = NDArray[np.float32]


def _ours(path: Path, method: str) -> tuple[int, float]:
    """Values, and CPU seconds for choosing their ranges."""
    found = observe_values(path, Samples(count=SAMPLES, bindings=SIZES), ALL)
    began = time.process_time()
    return len(found.ranges(method, SYMMETRIC)), time.process_time() - began


def _theirs(path: Path, method: str) -> tuple[int, float]:
    from onnxruntime.quantization import calibrate

    module: Any = calibrate  # its types are incomplete
    feeds, _ = accepted_feeds(Session(path), structure_of(path), Request(1, SIZES))
    calibrator = module.create_calibrator(
        str(path),
        calibrate_method=module.CalibrationMethod[method],
        augmented_model_path="augmented.onnx",
    )
    calibrator.collect_data(_Reader([draw(feeds[0], seed=seed) for seed in range(SAMPLES)]))
    began = time.process_time()
    ranges = calibrator.compute_data()
    return len(list(ranges.keys())), time.process_time() - began


class _Reader:
    def __init__(self, samples: Sequence[Arrays]) -> None:
        self._left = iter(samples)

    def get_next(self) -> Arrays | None:
        return next(self._left, None)


def _child(path: Path, who: str, method: str) -> None:
    """One run, in this process: prints what it took."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        began = time.process_time()
        values, choosing = (_ours if who == "ours" else _theirs)(path, method)
        seconds = time.process_time() - began
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([values, seconds - choosing, choosing, peak_bytes]))


def _rows(path: Path) -> Iterator[str]:
    for who, method in RUNS:
        print(path.stem, who, method, file=sys.stderr)
        yield f"| {path.stem} | {who} | {method} | {' | '.join(_measured(path, who, method))} |"


def _measured(path: Path, who: str, method: str) -> Sequence[str]:
    command = [sys.executable, "-m", "benchmarks.calibration", "--one", who, method, str(path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return ("", f"stopped after {SECONDS:.0f} s", "", "", "")
    if done.returncode:
        last = plain((done.stderr.strip().splitlines() or ["no message"])[-1])
        return ("", f"fails: {last[:120]}", "", "", "")
    values, observing, choosing, peak_bytes = json.loads(done.stdout.splitlines()[-1])
    above = peak_bytes - path.stat().st_size
    return (
        str(values),
        f"{observing:.1f}",
        f"{choosing:.2f}",
        f"{peak_bytes / MIB:.0f}",
        f"{above / MIB:.0f}",
    )


def distributions() -> dict[str, Floats]:
    """Numbers whose shape is known."""
    generator = np.random.default_rng(0)
    normal = generator.standard_normal(100_000).astype(np.float32)
    return {
        "Gaussian": normal,
        "Laplace": generator.laplace(size=100_000).astype(np.float32),
        "Gaussian, five at 40": np.append(normal, np.full(5, 40, np.float32)),
        "ReLU of a Gaussian": np.maximum(normal, 0),
        "uniform": generator.uniform(-1, 1, 100_000).astype(np.float32),
    }


def _their_threshold(numbers: Floats, bins: int) -> float:
    from onnxruntime.quantization.calibrate import HistogramCollector

    collector: Any = HistogramCollector("entropy", True, bins, 128, 99.99, "same")
    collector.collect({"value": [numbers]})
    return float(collector.compute_collection_result()["value"][1])


def _our_threshold(numbers: Floats) -> float:
    histogram = Histogram()
    histogram.add(numbers)
    return find_method("entropy").function(histogram, SYMMETRIC).high


def _timed(choose: Callable[[], float]) -> str:
    began = time.process_time()
    threshold = choose()
    return f"{threshold:.3f} | {1000 * (time.process_time() - began):,.0f} ms"


def _entropy_rows() -> Iterator[str]:
    _our_threshold(np.ones(1, np.float32))  # what is made once
    for name, numbers in distributions().items():
        print(name, file=sys.stderr)
        ours = _timed(lambda numbers=numbers: _our_threshold(numbers))
        theirs = [
            _timed(lambda numbers=numbers, bins=bins: _their_threshold(numbers, bins))
            for bins in (128, 2048)
        ]
        yield f"| {name} | {np.abs(numbers).max():.2f} | {ours} | {' | '.join(theirs)} |"


def main() -> None:
    """Measure what was asked for, and print the report."""
    made = parser(__doc__)
    made.add_argument("--one", nargs=2, metavar=("WHO", "METHOD"), help="a single run")
    made.add_argument("--zoo", type=Path, default=Path("/tmp/zoo"), help="of the networks")  # noqa: S108
    arguments = made.parse_args()
    if arguments.one:
        _child(arguments.folders[0].absolute(), *arguments.one)
        return
    paths = arguments.folders or [arguments.zoo / f"{name}.onnx" for name in MODELS]
    versions = describe("passlens", "onnxruntime-gpu", "onnx", "numpy")
    thresholds = list(_entropy_rows())
    costs = [row for path in paths for row in _rows(path.absolute())]
    lines = [
        f"{versions}. {SAMPLES} generated inputs, sizes {SIZES}.",
        *section(
            "Calibration, in CPU seconds and MiB:",
            [
                "| network | who | method | values | observe | choose | peak | above the file |",
                "|---|---|---|--:|--:|--:|--:|--:|",
                *costs,
            ],
        ),
        *section(
            "Thresholds by entropy, and the CPU time for one value:",
            [
                "| distribution | largest | ours | time | theirs, 128 bins | time"
                " | theirs, 2048 bins | time |",
                "|---|--:|--:|--:|--:|--:|--:|--:|",
                *thresholds,
            ],
        ),
    ]
    publish(lines, arguments.write)


if __name__ == "__main__":
    main()
