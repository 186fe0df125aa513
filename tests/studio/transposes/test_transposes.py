"""Transposes on the Layout page: their loops drawn, a measurement from button to History."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from streamlit.testing.v1 import AppTest

from optimizer.layout.transposes import MovedTensor, transposes
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from optimizer.source import complete
from profiling.records import Recording
from profiling.workers import WorkerPool
from studio.artifacts.store import Store
from studio.experiment import Equipment
from studio.transposes.job import MOST_MEASURED, TRANSPOSES_EXPERIMENT
from studio.transposes.nest_figure import RUN_COLOR, STRIDED_COLOR, nest_figure, nest_title
from tests.studio.apps import PATIENCE_S, settle, texts

pytestmark = pytest.mark.long
TO_NHWC = MovedTensor((1, 24, 14, 14), (0, 2, 3, 1), "FLOAT")
HEADS = MovedTensor((1, 16, 12, 8), (0, 2, 1, 3), "FLOAT")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Heads between two Reshapes, an image to channels last twice, and what moves nothing."""
    nodes = [
        helper.make_node("Reshape", ["x", "cut"], ["a"], name="cut"),
        helper.make_node("Transpose", ["a"], ["b"], name="heads", perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["b", "joined"], ["y"], name="join"),
        helper.make_node("Transpose", ["image"], ["c"], name="last", perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", ["image"], ["z"], name="again", perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", ["c"], ["w"], name="nothing", perm=[0, 1, 2, 3]),
    ]
    floats = {"x": [1, 16, 96], "image": [1, 24, 14, 14]}
    results = {"y": [12, 128], "z": [1, 14, 14, 24], "w": [1, 14, 14, 24]}
    shapes = {"cut": [1, 16, 12, 8], "joined": [12, 128]}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in floats.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in results.items()],
        [numpy_helper.from_array(np.array(s), name) for name, s in shapes.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path_factory.mktemp("model") / "moving.onnx"
    onnx.save(model, path)
    return path


def test_what_moves_is_found_with_the_reshapes_beside_it(network: Path, pool: WorkerPool) -> None:
    model = complete(load_path(network), isolate=pool)
    found = {one.name: one for one in transposes(model.ir.graph)}
    assert {name: one.tensor for name, one in found.items()} == {
        "heads": HEADS, "last": TO_NHWC, "again": TO_NHWC,
    }  # fmt: skip
    assert (found["heads"].reshaped_before, found["heads"].reshaped_after) == (True, True)
    assert (found["last"].reshaped_before, found["last"].reshaped_after) == (False, False)


@pytest.mark.parametrize("tensor", [TO_NHWC, HEADS, MovedTensor((3, 4, 5), (2, 0, 1), "INT64")])
def test_the_drawn_loops_have_the_strides_that_numpy_gives_the_array(tensor: MovedTensor) -> None:
    drawn = cast("Any", nest_figure(tensor).layout)
    said = [one.text for one in drawn.annotations if " × " in one.text]
    numbers = [tuple(int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", t)) for t in said]
    assert numbers == [_told(*loop) for side in _sides(tensor) for loop in _strides(side)]


def _sides(tensor: MovedTensor) -> list[MovedTensor]:
    reduced = tensor.reduced()
    return [tensor, reduced] if len(reduced.perm) < len(tensor.perm) else [tensor]


def _strides(tensor: MovedTensor) -> list[tuple[int, int, int, bool]]:
    """Size, and strides in elements of what is read and written, innermost or not."""
    read = np.arange(prod(tensor.shape), dtype=np.int8).reshape(tensor.shape).transpose(tensor.perm)
    written, last = np.ascontiguousarray(read), len(tensor.perm) - 1
    return [
        (read.shape[axis], read.strides[axis], written.strides[axis], axis == last)
        for axis in range(read.ndim)
    ]


def _told(size: int, read: int, written: int, innermost: bool) -> tuple[int, ...]:
    return (size,) if innermost and read == written == 1 else (size, read, written)


def test_the_innermost_loop_is_marked_by_whether_it_runs_side_by_side() -> None:
    heads = cast("Any", nest_figure(HEADS).layout).shapes
    assert [one.line.color for one in heads].count(RUN_COLOR) == 2  # before and after
    assert nest_title(HEADS) == "3 of 4 loops needed; moved 32 B at a time"
    image = cast("Any", nest_figure(TO_NHWC).layout).shapes
    assert [one.line.color for one in image].count(STRIDED_COLOR) == 2
    assert nest_title(TO_NHWC) == "2 of 4 loops needed; moved element by element"


@pytest.mark.usefixtures("own_store")
def test_the_page_shows_the_largest_measures_each_once_and_keeps_it(network: Path) -> None:
    def script() -> None:
        from studio.layout.page import render

        render()

    app = AppTest.from_function(script, default_timeout=PATIENCE_S)
    app.query_params["model"] = str(network)
    settle(app.run())
    assert "The largest: last" in texts(app)
    assert "2 distinct Transposes will run" in texts(app)
    table = _table(app, "Reshapes absorbed")
    assert table["node"] == ["last", "again", "heads"]
    assert table["Reshapes absorbed"] == ["none", "none", "both"]
    app.button(key="start-Measure Transposes").click()
    settle(app.run())
    assert "2 of 2 distinct Transposes" in texts(app)
    assert min(_table(app, "plain copy, GB/s")["plain copy, GB/s"]) > 0
    assert any("Kept in History" in button.label for button in app.button)


def _table(app: AppTest, column: str) -> dict[str, list[Any]]:
    """The one that has such a column."""
    frames = [cast("Any", one.value) for one in app.dataframe]
    (found,) = [frame for frame in frames if column in frame]
    return {name: list(found[name]) for name in found}


def test_the_largest_are_measured_and_the_recording_opens_again(
    network: Path, pool: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.transposes.job.SECONDS", 0.01)
    store = Store(pool, root=tmp_path)
    model = store.open_file(network, name="moving")
    bench = Equipment(store, pool, (model, store.run(model, Pipeline.of("none"))))
    many = tuple(MovedTensor((size, 3), (1, 0), "FLOAT") for size in range(20, 6, -1))
    kept: list[Recording] = []
    found = TRANSPOSES_EXPERIMENT.conducted(bench, many, kept.append)
    assert [one.tensor for one in found.times] == list(many[:MOST_MEASURED])
    assert found.distinct == len(many)
    assert len(kept[0].measurements) == 3 * MOST_MEASURED
    assert kept[0].title == found.title
    assert TRANSPOSES_EXPERIMENT.form.from_json(json.loads(json.dumps(kept[0].payload))) == found
