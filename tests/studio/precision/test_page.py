"""The Precision page without a browser: every section, and what can go wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from streamlit.testing.v1 import AppTest

from optimizer.errors import Cancelled, StudioError
from optimizer.isolation import Progress, silent
from optimizer.verify import budget_of
from profiling.precision.building import prelude
from profiling.precision.choose import SearchRequest
from profiling.precision.evaluation import Requirement
from studio import services
from studio.artifacts.opened import Subject
from studio.precision.budget.job import Search
from tests.studio.apps import PATIENCE_S, settle, texts

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("own_store")]


def page(**query: str) -> AppTest:
    def script() -> None:
        from studio.precision.page import render

        render()

    app = AppTest.from_function(script, default_timeout=PATIENCE_S)
    for name, value in query.items():
        app.query_params[name] = value
    return settle(app.run())


@pytest.fixture(scope="module")
def products(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two products of constants with a Relu between them."""
    drawn = np.random.default_rng(0)
    weights = {"w": drawn.normal(size=(16, 32)), "v": drawn.normal(size=(32, 8))}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("MatMul", ["b", "v"], ["y"], name="second"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])],
        [numpy_helper.from_array(w.astype(np.float32), name) for name, w in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path_factory.mktemp("model") / "products.onnx"
    onnx.save(model, path)
    return str(path)


def test_a_quick_model_opens_on_ranges_of_generated_inputs_that_say_so(products: str) -> None:
    app = page(model=products, value="b")
    said = texts(app)
    assert "Inputs were generated" in said
    assert "512 numbers of 4 generated inputs" in said
    names = app.selectbox(key="precision-value").options
    assert "b → MatMul second" in names
    assert "y" in names


def subject(products: str) -> Subject:
    """What the page is about."""
    opened = services.store().open_file(Path(products), name="products.onnx")
    return opened, services.store().run(opened, prelude())


def test_a_sample_that_does_not_fit_is_told_in_a_sentence_and_weights_stay(
    products: str, tmp_path: Path
) -> None:
    from studio.precision.samples import keep_samples

    np.save(tmp_path / "one.npy", np.zeros((4, 15), np.float32))
    _, run = subject(products)
    key = keep_samples(run, {"one.npy": (tmp_path / "one.npy").read_bytes()})
    app = page(model=products, samples=key)
    app.button(key="start-Calibrate").click()
    said = texts(settle(app.run()))
    assert "Sample 'one.npy', array 'x': it has shape [4, 15]" in said
    assert "Weights keep their whole range" in said


def test_layers_measure_every_value_and_leave_errors_for_the_viewer(products: str) -> None:
    app = page(model=products, precision="layers", numbers="static-int8")
    said = texts(app)
    assert "The error starts at" in said
    assert "Inputs were generated: errors rank methods" in said
    assert list(services.store().root.glob("models/*/*/overlay-errors-*"))


def test_what_leaves_the_range_of_float16_stays_float32_with_its_reason(tmp_path: Path) -> None:
    weights = {"w": 300 * np.eye(4), "v": 0.001 * np.eye(4)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("MatMul", ["b", "w"], ["c"], name="large"),
        helper.make_node("Relu", ["c"], ["d"], name="between"),
        helper.make_node("MatMul", ["d", "v"], ["y"], name="last"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 4])],
        [numpy_helper.from_array(w.astype(np.float32), name) for name, w in weights.items()],
    )
    path = tmp_path / "large.onnx"
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    app = page(model=str(path), precision="layers", numbers="float16")
    assert "Keep-list: 3 nodes kept in float32" in texts(app)
    tables = [cast("Any", frame.value) for frame in app.dataframe]
    (kept,) = [one for one in tables if "why it stays float32" in one]
    assert list(kept["node"]) == ["large", "between", "last"]
    assert "which reaches" in kept["why it stays float32"][0]


def test_a_budget_that_makes_no_sense_is_told_and_the_one_before_stays(products: str) -> None:
    app = page(model=products, precision="budget", budget="30 dB")
    app.text_input(key="precision-budget").set_value("little").run()
    assert "'little' is no budget of error" in texts(app)
    assert app.text_input(key="precision-budget").value == "30 dB"


def spinning(*, progress: Progress, cancelled: Callable[[], bool]) -> None:
    """Until somebody wants it to end."""
    while not cancelled():
        progress("racing", 0.5)
        time.sleep(0.01)
    raise Cancelled("Cancelled.")


def test_the_search_begun_last_ends_the_one_before_and_the_page_says_so_first(
    products: str,
) -> None:
    model, run = subject(products)
    kind = ("precision-search", model.key, run.key)
    before = services.tasks().start((*kind, "search-other"), spinning)
    assert "Another search on this model is running" in texts(
        page(model=products, precision="budget")
    )
    asked = SearchRequest(Requirement(budget_of("30 dB")))
    search = Search(asked, Path("no such file.onnx"), run.folder / "search-new", kind)
    with pytest.raises(StudioError):
        search(progress=silent, cancelled=lambda: False)
    assert before.done
    assert isinstance(before.error, Cancelled)
