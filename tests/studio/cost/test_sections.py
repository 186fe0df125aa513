"""The sections of predicted time as a visitor gets them, without a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from optimizer.cost.device import DEVICE_FORM
from optimizer.cost.devices import CORTEX_X4
from optimizer.errors import Cancelled
from profiling.cache.folder import cache_folder
from profiling.calibration.calibrate import path_of
from studio import services
from studio.cost.device import calibration_key

pytestmark = pytest.mark.long

LONG_S = 120
LOOKS = 100


@pytest.fixture(scope="module", autouse=True)
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A server with an empty cache."""
    patch = pytest.MonkeyPatch()
    patch.setenv("PASSLENS_CACHE", str(tmp_path_factory.mktemp("cache")))
    for service in (services.store, services.tasks):
        service.cache_clear()
    yield
    patch.undo()
    for service in (services.store, services.tasks):
        service.cache_clear()


@pytest.fixture(autouse=True)
def calibrated() -> Iterator[Path]:
    """This CPU as if it had been calibrated: a data sheet's numbers under its name."""
    path = path_of(cache_folder())
    path.parent.mkdir(parents=True, exist_ok=True)
    device = replace(CORTEX_X4, id="this", name="Test CPU", measured=True)
    path.write_bytes(DEVICE_FORM.dumps(device))
    yield path
    path.unlink(missing_ok=True)


def page(**query: str) -> AppTest:
    return settled(script_of(**query))


def script_of(**query: str) -> AppTest:
    """The page before its first run."""

    def script() -> None:
        from studio.cost.page import render

        render()

    app = AppTest.from_function(script, default_timeout=LONG_S)
    for name, value in {"model": "tour", **query}.items():
        app.query_params[name] = value
    return app


def settled(app: AppTest) -> AppTest:
    """The page when nothing is under way any more."""
    for _ in range(LOOKS):
        app.run()
        assert not app.exception
        if not any(button.label == "Cancel" for button in app.button):
            return app
    raise AssertionError("still under way")


def texts(app: AppTest) -> str:
    kinds = ("text", "caption", "html", "markdown", "subheader")
    found: list[Any] = [element for kind in kinds for element in app.get(kind)]
    return "\n".join(str(element.value) for element in found)


def link(app: AppTest, name: str) -> str:
    """A parameter of the page's link."""
    value: Any = app.query_params[name]
    return value if isinstance(value, str) else str(value[0])


def titles(app: AppTest) -> list[str]:
    """Of the figures."""
    charts: list[Any] = list(app.get("plotly_chart"))
    figures = [json.loads(chart.proto.spec) for chart in charts]
    return [figure["layout"]["title"]["text"] for figure in figures]


def test_the_roofline_is_there_at_once_with_a_table_of_every_node() -> None:
    app = page(cost="roofline", device="cortex-x4")
    plane, bars = titles(app)
    assert plane.startswith("Arm Cortex-X4, one core at 3.3 GHz (data sheet): predicted ")
    assert "slowest 12 kinds of work" in bars
    table: Any = app.dataframe[0].value
    assert {"node", "FLOP/B", "predicted, µs", "bound by"} <= set(table)
    assert list(table["predicted, µs"]) == sorted(table["predicted, µs"], reverse=True)
    assert "with no other machine" in texts(app)
    app.button(key="choose-this-cpu").click()
    settled(app)
    assert titles(app)[0].startswith("Test CPU: predicted ")
    assert link(app, "device") == "this"


def test_the_first_visit_measures_this_cpu_and_says_so_until_it_is_cancelled(
    calibrated: Path,
) -> None:
    calibrated.unlink()
    app = script_of(cost="roofline").run()
    try:
        task = services.tasks().get(calibration_key())
        assert task is not None
        assert app.selectbox(key="cost-device").value == "this"
        assert "Until this CPU is measured: Arm Cortex" in texts(app).replace("\\", "")
        app.button(key="cancel-Measuring this CPU").click()
        settled(app)
        assert task.done
        assert isinstance(task.error, Cancelled)
        assert titles(app)[0].startswith("Arm Cortex-X4, one core at 3.3 GHz (data sheet)")
        assert any(button.label == "Calibrate" for button in app.button)
        settled(app)  # what was cancelled does not begin again by itself
        assert services.tasks().get(calibration_key()) is task
    finally:
        services.tasks().drop(calibration_key())


def test_another_device_and_another_step_are_in_the_link() -> None:
    app = page(cost="roofline", device="h200", at_step="10")
    first = titles(app)[0]
    assert first.startswith("NVIDIA H200 SXM (data sheet): predicted ")
    assert "100 % of it is launches" in first
    app.selectbox(key="cost-device").select("a100")
    settled(app)
    assert titles(app)[0].startswith("NVIDIA A100")
    assert [link(app, name) for name in ("cost", "device", "at_step")] == ["roofline", "a100", "10"]


def test_the_source_alone_is_no_change() -> None:
    app = page(cost="roofline", at_step="0")
    assert " → " not in titles(app)[0]


def test_a_calibrated_cpu_is_what_is_predicted_for_and_can_be_profiled() -> None:
    app = page(cost="roofline")
    assert titles(app)[0].startswith("Test CPU: predicted ")
    labels = [button.label for button in app.button]
    assert "Calibrate again" in labels
    app.button(key="start-Profile this step").click()
    settled(app)
    third = titles(app)[2]
    assert third.startswith("Predicted ")
    assert "Spearman" in third
    again = page(cost="roofline")
    assert titles(again)[2] == third


def test_predicted_time_is_a_count_of_the_waterfall_and_its_bars_add_up() -> None:
    app = page(count="predicted", device="h200")
    (title,) = titles(app)
    assert "µs predicted, −" in title
    table: Any = app.dataframe[0].value
    before, _, after = title.partition(" µs predicted")[0].partition(" → ")
    assert sum(table["change, ns"]) / 1000 == pytest.approx(float(after) - float(before), abs=1)
    assert "in no bar" not in texts(app)


@pytest.mark.parametrize("chain", ["", "example-gelu"])
def test_a_chain_is_explained_in_time_and_in_trips_to_memory(chain: str) -> None:
    app = page(cost="fusion", chain=chain, device="cortex-x4")
    bars, memory = titles(app)
    assert "launches → 1" in bars
    assert "trips to memory fewer" in memory
    assert any(button.label == "Race the chain" for button in app.button)
    table: Any = app.dataframe[0].value
    assert set(table["access"]) == {"read", "write"}


def test_a_selection_that_is_no_chain_says_why() -> None:
    app = page(cost="fusion", chain="selected", select="n1,n40", device="h200")
    assert not titles(app)
    assert "Select at least two nodes of the main graph that feed each other." in texts(app)


def test_the_sizes_of_an_example_are_in_the_link() -> None:
    app = page(cost="fusion", chain="example-matmul", dims="rows:8,inner:64", device="h200")
    assert "8×64" in str(app.dataframe[0].value)
    app.select_slider(key="cost-dim-inner").set_value(128)
    settled(app)
    assert "8×128" in str(app.dataframe[0].value)
    assert "inner:128" in link(app, "dims")
