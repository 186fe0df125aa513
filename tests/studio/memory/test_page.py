"""The Memory page without a browser: every section, and what can go wrong."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from streamlit.testing.v1 import AppTest

from tests.studio.apps import PATIENCE_S, settle, texts

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("own_store")]


def page(**query: str) -> AppTest:
    def script() -> None:
        from studio.memory.page import render

        render()

    app = AppTest.from_function(script, default_timeout=PATIENCE_S)
    for name, value in query.items():
        app.query_params[name] = value
    return settle(app.run())


def tiny(folder: Path, *operators: str) -> str:
    """A chain of operators on a float[4]."""
    names = ["x", *(f"t{i}" for i in range(len(operators) - 1)), "y"]
    nodes = [
        helper.make_node(op, [names[i]], [names[i + 1]], name=f"/{op}{i}")
        for i, op in enumerate(operators)
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = folder / "tiny.onnx"
    onnx.save(model, path)
    return str(path)


def test_free_sizes_are_assumed_and_said_so_until_one_is_changed() -> None:
    app = page(model="tour")
    assert "At the peak" in texts(app)
    assert "checked by an independent sweep" in texts(app)
    assert "At batch = 1, seq = 128: assumed, the model leaves them open" in texts(app)
    assert [number.value for number in app.sidebar.number_input] == [1, 128]
    assert "sizes" not in app.query_params
    app.number_input(key="size-use-seq").set_value(16)
    settle(app.run())
    assert "At the peak" in texts(app)
    assert "assumed" not in texts(app)
    assert "batch:1,seq:16" in app.query_params["sizes"]


@pytest.mark.parametrize("model", ["gpt2", pytest.param("llama", marks=pytest.mark.slow)])
def test_a_network_with_a_past_is_planned_without_a_click(model: str) -> None:
    app = page(model=model)
    assert "At the peak" in texts(app)


def test_the_map_of_a_link_lists_who_takes_the_memory_at_its_moment() -> None:
    app = page(model="tour", sizes="batch:1,seq:16", step="5", at="3", beside="no")
    assert "step 3" in texts(app)
    assert "Step 5 of" in app.slider(key="memory-step").label
    assert "Three regions" in texts(app)


def test_a_step_of_the_slider_is_looked_at() -> None:
    app = page(model="tour", sizes="batch:1,seq:16", step="5")
    app.slider(key="memory-step").set_value(7)
    settle(app.run())
    assert "Step 7 of" in app.slider(key="memory-step").label


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("planners", "every plan was checked by an independent sweep"),
        ("order", "no order needs less than the largest single operator"),
        ("recompute", "A value that is needed again much later is dropped"),
    ],
)
def test_a_section_says_how_it_was_counted(section: str, said: str) -> None:
    app = page(model="tour", sizes="batch:1,seq:16", memory=section)
    assert said in texts(app)


def test_a_planner_that_does_not_exist_is_one_sentence() -> None:
    app = page(model="tour", sizes="batch:1,seq:16", planner="nobody")
    assert "There is no planner 'nobody'" in texts(app)
    assert any(button.label == "Try again" for button in app.button)


def test_a_model_of_one_operator_has_nothing_to_plan(tmp_path: Path) -> None:
    app = page(model=tiny(tmp_path, "Relu"))
    assert "there are no activations to plan" in texts(app)


def test_a_tiny_chain_is_planned_at_once(tmp_path: Path) -> None:
    app = page(model=tiny(tmp_path, "Softmax", "Softmax", "Relu"), preset="none")
    assert "At the peak" in texts(app)


def test_what_is_no_model_says_why(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"this is no model")
    app = page(model=str(path))
    assert "Try again" in {button.label for button in app.button}
    assert "broken.onnx" in texts(app) or "ONNX" in texts(app)
