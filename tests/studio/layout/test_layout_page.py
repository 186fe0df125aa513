"""The Layout page: its jobs on a small network, and the page without a browser."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from streamlit.testing.v1 import AppTest

from optimizer.isolation import silent
from optimizer.pipeline import Pipeline
from studio.artifacts.opened import Subject
from studio.artifacts.store import Store
from studio.layout.figure import assigned_title, lacking_bars, waste_bars
from studio.layout.job import ASSIGNED, LEGAL
from studio.layout.link import LayoutChoice
from studio.link import from_link, to_link
from tests.studio.apps import PATIENCE_S, settle, texts

pytestmark = pytest.mark.long


def here(function: Callable[..., Any], *args: object, **options: Any) -> Any:
    """An `Isolate` that computes in this process."""
    del options
    follows = "progress" in inspect.signature(function).parameters
    return function(*args, **({"progress": silent} if follows else {}))


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Convolutions of 3 → 24 → 16 channels, a Relu between them, and what nothing lowers."""
    drawn = np.random.default_rng(0)
    weights = {"w": drawn.normal(size=(24, 3, 3, 3)), "v": drawn.normal(size=(16, 24, 1, 1))}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Conv", ["b", "v"], ["c"], name="second"),
        helper.make_node("Det", ["c"], ["y"], name="det"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])],
        [numpy_helper.from_array(w.astype(np.float32), name) for name, w in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path_factory.mktemp("model") / "images.onnx"
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def opened(network: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Subject]:
    store = Store(here, root=tmp_path_factory.mktemp("store"))
    model = store.open_file(network, name="images")
    return store, (model, store.run(model, Pipeline.of("none")))


def test_blocks_of_a_cube_are_counted_tensor_by_tensor(opened: tuple[Store, Subject]) -> None:
    store, subject = opened
    found = store.get(ASSIGNED, subject, "nc1hwc0")
    assert found.layout == "NC1HWC0"
    assert found.moved["Conv"] == 2
    filled = {one.name: (one.plain, one.filled) for one in found.wastes}
    pixels = 4 * 32 * 32  # bytes of a channel
    assert filled["x"] == (3 * pixels, 16 * pixels)
    assert {(24 * pixels, 32 * pixels), (16 * pixels, 16 * pixels)} <= set(filled.values())
    bars = cast("Any", waste_bars(found.wastes)).data
    assert bars[1].x[0] == 13 * pixels / 2**10  # KiB; the largest padding first
    assert "no kernels as written" in assigned_title(found)
    steps = {one.step for one in found.conversions if one.value == "x"}
    assert steps
    assert 0 not in steps


def test_what_a_matrix_engine_lacks_is_lowered_and_the_rest_says_why(
    opened: tuple[Store, Subject],
) -> None:
    store, subject = opened
    found = store.get(LEGAL, subject, "matrix-engine")
    assert {one.operator: len(one.nodes) for one in found.lacking}["Conv"] == 2
    left = {one.operator: one for one in found.remaining}
    assert set(left) == {"Det"}
    assert left["Det"].why
    assert sum(found.lowered.values()) >= 2
    bars = cast("Any", lacking_bars(found)).data
    assert sum(bars[1].x) == 1


def test_a_link_brings_the_target_back_and_nonsense_is_passed_over() -> None:
    choice = LayoutChoice(target="nc1hwc0")
    assert from_link(LayoutChoice, to_link(choice)) == choice
    assert from_link(LayoutChoice, {"target": "../x"}) == LayoutChoice()


@pytest.mark.usefixtures("own_store")
def test_the_page_opens_on_an_assignment_and_goes_on_to_a_device(network: Path) -> None:
    def script() -> None:
        from studio.layout.page import render

        render()

    app = AppTest.from_function(script, default_timeout=PATIENCE_S)
    app.query_params["model"] = str(network)
    settle(app.run())
    assert "Transposes: 0 in the file" in texts(app)
    assert "No Transpose of this model moves anything" in texts(app)
    app.radio(key="layout-operators-of").set_value("matrix-engine")
    settle(app.run())
    assert "first step" in texts(app)
    assert app.radio(key="layout-layouts-for").value is None
