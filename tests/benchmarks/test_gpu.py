from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import gpu
from benchmarks.gpu_table import COLUMNS, TITLES, Ideal, Rates, Row, ideal, markdown, recording
from profiling.execution.availability import availability
from profiling.machine import this_machine
from profiling.records.bundle import open_bundle
from profiling.workers import default_pool

RATES = Rates(copy_gb_s=1000, float32_tflop_s=100, float16_tflop_s=200)


def test_the_ideal_is_the_larger_of_arithmetic_and_traffic() -> None:
    busy = ideal(RATES, flops=10**12, weight_bytes=10**6, io_bytes=0)
    assert busy == Ideal(10.0, 5.0)
    idle = ideal(RATES, flops=1000, weight_bytes=4 * 10**9, io_bytes=10**9)
    assert idle == Ideal(5.0, 3.0)


def test_what_was_not_measured_says_so_in_the_table() -> None:
    rows = [
        Row("bert", TITLES["bert"], "ONNX Runtime", p50_ms=1.2345),
        Row("bert", TITLES["bert"], "+ CUDA Graph", error="not measured: no GPU"),
        Row("bert", TITLES["bert"], "+ float16", error="not measured: no GPU"),
    ]
    text = markdown(rows, {"bert": Ideal(0.5, 0.25)}, rates=RATES, where="here")
    (line,) = [line for line in text.splitlines() if line.startswith("| BERT")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[1] == "1.23"
    assert cells[2 : 1 + len(COLUMNS)] == ["not measured"] * (len(COLUMNS) - 1)
    assert cells[-2:] == ["0.5", "0.25"]
    assert "+ CUDA Graph, + float16: not measured: no GPU" in text


def test_the_recording_holds_every_row() -> None:
    rows = [Row("bert", "BERT", "ONNX Runtime", p50_ms=1.5), Row("bert", "BERT", "x", error="no")]
    found = recording(
        rows, {}, rates=None, machine=this_machine(), started_at="2026-01-01T00:00:00+00:00",
        seconds=1.0,
    )  # fmt: skip
    assert [measurement.p50_ms for measurement in found.measurements] == [1.5, None]
    assert json.loads(json.dumps(found.payload))["rows"] == [asdict(row) for row in rows]


def test_without_a_gpu_every_row_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if availability(default_pool())["cuda"].ok:
        pytest.skip("there is a GPU here")
    assert gpu.main(["--networks", "bert", "--out", str(tmp_path)]) == 1
    assert "not measured" in capsys.readouterr().out
    (found,) = open_bundle(tmp_path / "gpu.passlens")
    assert len(found.measurements) == len(COLUMNS)
    assert all("CUDA" in measurement.error for measurement in found.measurements)
