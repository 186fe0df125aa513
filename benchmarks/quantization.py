"""int8 after training: our passes beside `onnxruntime.quantization`, speed, error and size.

    python -m benchmarks.quantization FOLDER [--write FILE] [--rounds N] [--only NAME]*

`FOLDER` has the float32 networks named in `NETWORKS`. All variants of a network take turns in one
process: CPU time of one thread, a median of ratios. Calibration takes eight drawn inputs, errors
are on nine others. Weights and inputs are random: errors rank methods and say nothing of a task.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.quantization_work import CALIBRATION
from benchmarks.report import publish
from optimizer.model.writer import write
from optimizer.passes.precision.fuse_quantized_operators import FuseQuantizedOperators
from optimizer.passes.precision.quantize_dynamically import QuantizeMatmulDynamically
from optimizer.passes.precision.quantize_statically import QuantizeStatically
from optimizer.passes.precision.store_weights import StoreEmbeddingsIn8Bits
from optimizer.pipeline import Pipeline
from optimizer.precision.observation import Wanted, observe
from optimizer.precision.ranges import rows_of
from optimizer.precision.samples import Samples
from optimizer.precision.threshold import Integers
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from optimizer.source import open_source
from profiling.instructions import fast_integers, speeds
from profiling.precision.calibrating import channels_of
from profiling.workers import default_pool

HELD_OUT = 9
TOKENS = 64
INLINE_BYTES = 1 << 31


@dataclass(frozen=True, slots=True)
class Network:
    """A network of the table.

    Attributes:
        file: in the folder, without its ending.
        words: in its vocabulary; 0 for one that reads pictures.
        typed: whether its words have types, too.
    """

    name: str
    file: str
    words: int = 0
    typed: bool = False

    @property
    def bindings(self) -> dict[str, int]:
        """Sizes of its free dimensions."""
        return {"batch": 1, "seq": TOKENS} if self.words else {"batch": 1}

    @property
    def operators(self) -> str:
        """What the other tool is to quantize: of a transformer products alone, else all."""
        return "MatMul,Gemm" if self.words or "vit" in self.file else ""

    def drawn(self, seed: int) -> dict[str, Any]:
        """Random inputs."""
        generator = np.random.default_rng(seed)
        if not self.words:
            picture = generator.normal(size=(1, 3, 224, 224)).astype(np.float32)
            return {"pixel_values": picture}
        shape = (1, TOKENS)
        found = {
            "input_ids": generator.integers(0, self.words, shape),
            "attention_mask": np.ones(shape, np.int64),
        }
        return found | ({"token_type_ids": np.zeros(shape, np.int64)} if self.typed else {})


NETWORKS = (
    Network("BERT-base", "bert_base_ts_op14", 30522, typed=True),
    Network("DistilBERT", "distilbert_ts_op11", 5000),
    Network("ViT-small", "vit_small_ts_op14"),
    Network("ResNet-50", "resnet50_ts_op13"),
    Network("MobileNetV2", "mobilenetv2_ts_op12"),
)


def variants(
    network: Network, source: Path, work: Path, inputs: Path
) -> Iterator[tuple[str, Path]]:
    """Labels and files of a network, its source first."""
    bound = open_source(source, isolate=default_pool(), bind=network.bindings)
    yield "float32", _written(bound, work / "float32.onnx")
    optimize(bound, Pipeline.of("portable", enable=["raise-opset"]))
    optimized = _written(bound, work / "optimized.onnx")
    wanted = Wanted(channels=channels_of(bound.ir.graph))
    seen = observe(optimized, Samples(inputs, count=CALIBRATION), wanted, isolate=default_pool())
    fast = fast_integers()
    means = tuple((name, tuple(found.means.tolist())) for name, found in seen.channels.items())

    def static(method: str) -> QuantizeStatically:
        rows = rows_of(seen.ranges(method, Integers()))
        return QuantizeStatically(rows, fast.activations, weight_bits=fast.weight_bits)

    def made(label: str, *passes: Pass) -> tuple[str, Path]:
        model = open_source(optimized, isolate=default_pool())
        trace = optimize(model, Pipeline(passes))
        assert not trace.failed, trace.failed
        return label, _written(model, work / f"{label.replace(' ', '-')}.onnx")

    yield made("static", static("min-max"))
    yield made("static, least squared error", static("mse"))
    yield made("static, biases corrected", replace(static("mse"), means=means))
    yield made("static, on integers", static("min-max"), FuseQuantizedOperators())
    if network.operators:
        yield made("dynamic", QuantizeMatmulDynamically())
    if network.words:
        yield made("dynamic, embeddings", StoreEmbeddingsIn8Bits(), QuantizeMatmulDynamically())
    theirs = [work / "ort-static.onnx", work / "ort-dynamic.onnx"]
    _run("theirs", work / "float32.onnx", inputs, *theirs, "--operators", network.operators)
    yield "onnxruntime static", theirs[0]
    if network.operators:
        yield "onnxruntime dynamic", theirs[1]


def _written(model: Any, path: Path) -> Path:
    write(model.ir, path, inline_bytes=INLINE_BYTES)
    return path


def _run(*arguments: object) -> str:
    command = [sys.executable, "-m", "benchmarks.quantization_work", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def rows_of_network(network: Network, source: Path, rounds: int) -> list[Mapping[str, Any]]:
    """What came out, a row a variant."""
    with tempfile.TemporaryDirectory() as folder:
        work, inputs = Path(folder), Path(folder) / "inputs"
        inputs.mkdir()
        for seed in range(CALIBRATION + HELD_OUT):
            np.savez(inputs / f"{seed:02}.npz", **network.drawn(seed))
        files = {label: str(path) for label, path in variants(network, source, work, inputs)}
        request = work / "request.json"
        request.write_text(json.dumps({"files": files, "folder": str(inputs), "rounds": rounds}))
        return json.loads(_run("race", request))


NOTE = (
    "DistilBERT gives two numbers; on one of the nine inputs both are near zero (0.010 and -0.004, "
    "elsewhere 0.1 to 0.3), so the worst ratio of every variant is that input's."
)


def lines(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """The table."""
    yield f"{describe('passlens', 'onnx', 'onnxruntime-gpu')}; CPU time, one thread."
    yield ""
    measured = speeds(default_pool())
    yield (
        f"{fast_integers().because} A product of 64 rows with int8 weights runs "
        f"{measured['uint8']:.1f} times as fast as in float32 with uint8 activations, "
        f"{measured['int8']:.1f} times with int8."
    )
    yield ""
    heads = ("times as fast", "ms", "dB, all samples", "dB, worst", "of scale, %", "MB")
    yield f"| network | variant | {' | '.join(heads)} |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for network, rows in found.items():
        for row in rows:
            error = "– | – | –"
            if row["scaled"]:
                decibels = f"{row['sqnr_db']:.1f} | {row['worst_sqnr_db']:.1f}"
                error = f"{decibels} | {100 * row['scaled']:.1f}"
            yield (
                f"| {network} | {row['label']} | {row['speed']:.2f} | {row['ms']:.1f} "
                f"| {error} | {row['bytes'] / 1e6:.0f} |"
            )
    if "DistilBERT" in found:
        yield from ("", NOTE)


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quantization")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--only", action="append", choices=[network.name for network in NETWORKS])
    options = parser.parse_args(arguments)
    found: dict[str, list[Mapping[str, Any]]] = {}
    for network in NETWORKS:
        if options.only and network.name not in options.only:
            continue
        print(network.name, file=sys.stderr)
        source = options.folder / f"{network.file}.onnx"
        found[network.name] = rows_of_network(network, source, options.rounds)
    publish(lines(found), options.write)


if __name__ == "__main__":
    main(sys.argv[1:])
