from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.gpu_table import Ideal, Row
from studio.history.benchmark import benchmark_dots


def test_every_measured_row_is_a_dot_and_every_limit_a_line() -> None:
    rows: list[dict[str, Any]] = [
        asdict(Row(network, network.upper(), column, p50_ms=p50))
        for network, column, p50 in (
            ("a", "ONNX Runtime", 2.0),
            ("a", "torch eager", None),
            ("b", "ONNX Runtime", 3.0),
        )
    ]
    figure: Any = benchmark_dots(rows, {"a": asdict(Ideal(0.5, 0.25))}, title="found")
    dots = [trace for trace in figure.data if trace.mode == "markers+text"]
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [list(trace.x) for trace in dots] == [[2.0], [3.0]]
    assert sorted(trace.x[0] for trace in lines) == [0.25, 0.5]
    assert figure.layout.title.text == "found"
