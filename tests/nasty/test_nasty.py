from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.isolation import within_worker
from optimizer.model.graph import Model, count_nodes
from optimizer.model.loader import load_path
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import PRESETS
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.source import complete
from optimizer.verify import Feed, verify
from profiling.workers import WorkerPool

HERE = Path(__file__).parent
MODELS = sorted(HERE.glob("*.onnx"))


def note(path: Path) -> dict[str, Any]:
    return json.loads(path.with_name(f"{path.stem}.note.json").read_text())


def feeds(path: Path) -> list[Feed] | None:
    """All inputs where the note insists on the values of some; None where any will do."""
    file = path.with_name(f"{path.stem}.feeds.json")
    if not file.exists():
        return None
    given = json.loads(file.read_text())
    return [feed(value, given.get(value.name)) for value in load_path(path).ir.graph.inputs]


def feed(value: ir.Value, given: dict[str, Any] | None) -> Feed:
    assert value.name is not None
    assert value.dtype is not None
    dtype = str(np.dtype(value.dtype.numpy()))
    if given is not None:
        values = tuple(given["value"])
        return Feed(value.name, dtype, tuple(given["shape"]), "choice", values=values)
    assert value.shape is not None
    return Feed(value.name, dtype, tuple(value.shape.numpy()))


def opened(path: Path) -> Model:
    return complete(load_path(path), isolate=within_worker)


def test_every_model_has_a_note() -> None:
    assert MODELS
    assert all(note(path)["note"] for path in MODELS)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_nasty_model_ends_as_its_note_says(
    path: Path, preset: str, shared_pool: WorkerPool
) -> None:
    model = opened(path)
    source, before = to_bytes(model.ir), count_nodes(model.ir.graph)
    domains = set(model.ir.graph.opset_imports)
    trace = optimize(model, Pipeline.of(preset))
    optimized, after = to_bytes(model.ir), count_nodes(model.ir.graph)
    assert after <= note(path).get("expect_nodes_after", before)
    assert trace.stopped == ""
    if preset == "portable":
        assert set(model.ir.graph.opset_imports) == domains, "operators of the runtime's own"
    checked = verify(path, optimized, isolate=shared_pool, feeds=feeds(path))
    assert (checked.verdict, checked.reason) == ("equal", "")
    cursor = Cursor.at_end(trace)
    assert cursor.materialize(0) == source
    assert cursor.materialize(trace.steps) == optimized


@pytest.mark.slow
def test_exact_passes_alone_keep_every_bit(shared_pool: WorkerPool) -> None:
    exact = [p for p in Pipeline.of("default").passes if p.exactness == "exact"]
    for path in MODELS:
        model = opened(path)
        optimize(model, Pipeline(tuple(exact)))
        checked = verify(path, to_bytes(model.ir), isolate=shared_pool, exact=True)
        assert (checked.verdict, checked.reason) == ("equal", ""), path.stem
