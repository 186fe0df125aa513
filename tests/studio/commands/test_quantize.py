from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from optimizer.rewrite.trace_file import open_trace
from optimizer.verify import verify
from profiling.precision.chosen import CHOSEN
from profiling.workers import default_pool
from studio.cli import main
from tests.profiling.kernels.models import floats, parsed

pytestmark = pytest.mark.long

NETWORK = """net (float[4, 64] x) => (float[4, 32] y) {
    a = MatMul (x, w0)
    b = Add (a, b0)
    c = Relu (b)
    d = MatMul (c, w1)
    e = Add (d, b1)
    y = Relu (e)
}"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small perceptron, and a folder `samples` beside it."""
    path = tmp_path_factory.mktemp("quantize") / "net.onnx"
    weights = {
        "w0": floats(64, 256) / 8, "b0": floats(256), "w1": floats(256, 32) / 16, "b1": floats(32),
    }  # fmt: skip
    path.write_bytes(parsed(NETWORK, weights))
    samples = path.with_name("samples")
    samples.mkdir()
    for seed in range(4):
        np.savez(samples / f"{seed}.npz", x=floats(4, 64, seed=seed))
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """The one line that a command ends with which cannot begin."""
    assert main(["quantize", *map(str, words)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_the_smallest_model_within_the_budget_is_found_written_and_replayed(
    network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, trace = tmp_path / "out.onnx", tmp_path / "out.trace"
    words = ["--calibration", network.with_name("samples"), "--budget", "25dB", "--goal", "size"]
    record = tmp_path / "record.json"
    files = ["-o", out, "--trace", trace, "--record", record, "--json"]
    assert main(["quantize", *map(str, [network, *words, "--minutes", 0.05, *files])]) == 0
    said = capsys.readouterr()
    chosen = CHOSEN.from_json(json.loads(said.out))
    assert CHOSEN.to_json(chosen) == json.loads(said.out)
    assert (chosen.calibrated, chosen.held, chosen.samples) == (3, 1, "samples")
    assert chosen.answer.sqnr_db >= 25
    assert out.stat().st_size == pytest.approx(chosen.answer.size_bytes, rel=0.05)
    assert out.stat().st_size < 0.4 * network.stat().st_size
    assert "dB on 1 sample held out" in said.err
    cursor = open_trace(trace)
    assert cursor.materialize(cursor.trace.steps) == out.read_bytes()
    assert verify(network, out, isolate=default_pool(), rtol=0.1).verdict == "equal"
    again = ["--minutes", 1e-6, "--record", record, "--json"]
    assert main(["quantize", *map(str, [network, *words, *again])]) == 0
    known = CHOSEN.from_json(json.loads(capsys.readouterr().out))
    assert known.answer == chosen.answer  # no time for anything new


def test_a_budget_that_nothing_meets_is_answered_float_and_fails(
    network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.onnx"
    metric = tmp_path / "metric.py"
    metric.write_text(
        "def same(outputs, labels):\n    return abs(outputs['y'] - labels['y']).max()\n"
    )
    words = [network, "--goal", "size", "--minutes", 0.05, "-o", out]
    assert main(["quantize", *map(str, words), "--metric", f"{metric}:same<=1e-9"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("Inputs were generated")
    assert said[-1].startswith("Float: of ")
    assert "none is within the budget (same <= 0.000000001). The nearest: " in said[-1]
    assert not out.exists()


def test_what_cannot_begin_says_why_in_one_line(
    network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = ["--budget", "25dB"]
    assert "What may be lost?" in refused(capsys, network)
    assert "no budget of error" in refused(capsys, network, "--budget", "five")
    assert "--minutes must be above 0" in refused(capsys, network, *good, "--minutes", "0")
    folder = tmp_path / "none" / "out.onnx"
    for option in ("-o", "--trace", "--record"):
        assert "There is no folder" in refused(capsys, network, *good, option, folder)
    assert "--labels are for --metric" in refused(capsys, network, *good, "--labels", "a.npy")
    assert "is no metric" in refused(capsys, network, "--metric", "metric.py")
    missing = tmp_path / "metric.py"
    assert "There is no file" in refused(capsys, network, "--metric", f"{missing}:f>=1")
    missing.write_text("def f(outputs, labels):\n    return outputs['z'].mean()\n")
    line = refused(capsys, network, "--metric", f"{missing}:f>=1")
    assert "The metric 'metric.py:f' fails in line 2: KeyError: 'z'" in line
    missing.write_text("def f(outputs, labels):\n    return 0.5\n")
    line = refused(capsys, network, "--metric", f"{missing}:f>=0.9")
    assert "The model as it came gives f 0.5: no plan can be held to" in line


def test_samples_that_do_not_fit_and_models_without_weights_say_so(
    network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    asked = ["--budget", "5%", "--calibration", str(samples)]
    assert "holds no .npz or .npy file" in refused(capsys, network, *asked)
    np.savez(samples / "a.npz", z=floats(4, 64))
    assert "'z'" in refused(capsys, network, *asked)
    np.savez(samples / "a.npz", x=np.full((4, 64), np.nan, np.float32))
    assert "holds a NaN" in refused(capsys, network, *asked)
    plain = tmp_path / "plain.onnx"
    plain.write_bytes(parsed("net (float[2] x) => (float[2] y) { y = Relu (x) }", {}))
    assert "There is nothing to quantize" in refused(capsys, plain, "--budget", "5%")
