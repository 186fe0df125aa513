"""The History page over both databases, and once in a real browser."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from profiling.config.question import STARTS
from profiling.kernels.generated.decisions import keep
from profiling.kernels.generated.network import keep_network
from profiling.records import Measurement, Recording, Records
from profiling.records.bundle import bundle_bytes
from studio import services
from studio.history import opened
from studio.history.compare import cautions, comparison_table, finding
from studio.history.figure import median_dots, variants_of
from studio.history.opened import measurements_table
from studio.recordings import shipped
from studio.timeline.job import PROFILE_EXPERIMENT
from tests.profiling.kernels.generated.decided import decision
from tests.profiling.kernels.generated.test_networks import GELU, SOFTMAX, network
from tests.profiling.records.samples import H100, RACE, sample
from tests.studio.browsing import PATIENCE_MS
from tests.studio.profiles import profiled

pytestmark = pytest.mark.long


@pytest.fixture
def records(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Records]:
    """The database that the page will use."""
    monkeypatch.setenv("PASSLENS_DATABASE_URL", database_url)
    yield from _fresh()


def _fresh() -> Iterator[Records]:
    for service in (services.records, services.keeper):
        service.cache_clear()
    yield services.records()
    services.records().close()
    for service in (services.records, services.keeper):
        service.cache_clear()


def page(**query: str) -> AppTest:
    def script() -> None:
        from studio.history.page import render

        render()

    app = AppTest.from_function(script, default_timeout=180)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    """Everything that is said on the page."""
    kinds = ("text", "caption", "html", "markdown", "subheader")
    found: list[Any] = [element for kind in kinds for element in app.get(kind)]
    return "\n".join(str(element.value) for element in found)


def plain(app: AppTest) -> str:
    """The same without Markdown's escapes."""
    return texts(app).replace("\\", "")


def listed(app: AppTest) -> list[str]:
    return column(app, "finding") if app.main.dataframe else []


def column(app: AppTest, name: str) -> list[Any]:
    tables: list[Any] = [one.value for one in app.main.dataframe]
    return list(next(table for table in tables if name in table)[name])


def button(app: AppTest, label: str) -> Any:
    return next(one for one in app.button if one.label.replace("\\", "") == label)


def test_an_empty_history_says_what_will_be_here(records: Records) -> None:
    app = page()
    assert "No recordings yet" in texts(app)
    assert button(app, "Race a model")


def test_the_newest_are_listed_a_hundred_at_a_time(records: Records) -> None:
    for number in range(130):
        records.add(sample(number))
    app = page()
    assert listed(app)[0] == "Race 129"
    assert len(listed(app)) == 100
    assert "1-100 of 130 recordings" in texts(app)
    button(app, "Older").click().run()
    assert listed(app) == [f"Race {number}" for number in range(29, -1, -1)]
    assert button(app, "Older").disabled
    app.text_input(key="history-filter-text").set_value("race 12").run()
    assert len(listed(app)) == 11  # 12, and 120 to 129, on the first page again
    button(app, "Clear filter").click().run()
    assert len(listed(app)) == 100


def test_filters_narrow_the_list(records: Records) -> None:
    records.add(sample(1, kind="sweep"))
    records.add(sample(2, model="bert"))
    records.add(sample(3, machine=H100, bundle="gpu.passlens"))
    app = page()
    app.multiselect(key="history-filter-kinds").set_value(["sweep"]).run()
    assert listed(app) == ["Race 1"]
    app.multiselect(key="history-filter-kinds").set_value([]).run()
    app.selectbox(key="history-filter-model").set_value("bert").run()
    assert listed(app) == ["Race 2"]
    button(app, "Clear filter").click().run()
    app.selectbox(key="history-filter-bundle").set_value("gpu.passlens").run()
    assert listed(app) == ["Race 3"]
    app.text_input(key="history-filter-text").set_value("nothing like it").run()
    assert listed(app) == []
    assert not app.exception


def test_a_link_opens_a_recording_with_its_label(records: Records) -> None:
    identity = records.add(sample(7, machine=H100, kind="benchmark", bundle="gpu.passlens"))
    app = page(record=str(identity))
    assert "Race 7" in texts(app)
    label = texts(app).replace("\\", "")
    assert "Recorded on NVIDIA H100 80GB HBM3, Xeon 8481C, 16 cores, 2026-11-01 00:07 UTC" in label
    assert "from gpu.passlens" in label
    assert column(app, "variant") == [one.label for one in RACE.measurements]
    button(app, "All recordings").click().run()
    assert listed(app) == ["Race 7"]


def test_a_link_to_a_recording_that_is_gone_says_so(records: Records) -> None:
    app = page(record="99")
    assert "There is no recording 99" in texts(app)
    assert button(app, "All recordings")


def test_a_deleted_recording_leaves_the_list(records: Records) -> None:
    first, second = records.add(sample(1)), records.add(sample(2))
    app = page(record=str(first))
    button(app, "Delete this recording").click().run()
    assert listed(app) == ["Race 2"]
    assert records.count() == 1
    assert records.load(second)


def test_a_payload_that_cannot_be_drawn_leaves_its_measurements(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(recording: Recording) -> None:
        recording.payload["no such thing"]

    monkeypatch.setattr(opened, "show_recording", draw)
    identity = records.add(sample(1, payload={}))
    app = page(record=str(identity))
    assert "cannot draw the recording" in texts(app)
    assert len(app.main.dataframe[0].value) == 3


def test_a_recorded_profile_is_drawn_with_timeline_and_memory(records: Records) -> None:
    made = PROFILE_EXPERIMENT.recording(profiled(runs=11))
    assert made is not None
    app = page(record=str(records.add(made)))
    said = texts(app).replace("\\", "")
    assert "cannot draw" not in said
    assert made.title in said
    assert "11 runs of each" in said
    assert "b: It does not run." in said
    assert [one.label for one in app.expander] == [
        "How each run adds up", "Operators as a table", "Memory as a table",
        "Measurements as a table",
    ]  # fmt: skip
    assert column(app, "run, µs") == [1004]  # its stretches, each as in the middle one of all runs
    app.segmented_control(key="phase-timeline").set_value("first").run()
    assert column(app, "run, µs") == [3000]


def test_a_decision_about_a_generated_kernel_is_drawn_with_its_tree(records: Records) -> None:
    identity = keep(decision(), records)
    app = page(record=str(identity))
    said = texts(app).replace("\\", "")
    assert "cannot draw" not in said
    assert "Halide: 2.00× faster" in said
    assert "8 copies in a row, times of one. Right before it was timed: C on 40" in said
    assert "Halide on 40 edge cases." in said
    drawn = [one.proto.spec for one in app.get("plotly_chart")]
    assert any("algorithm" in spec and "tuning" in spec for spec in drawn)


def test_a_decision_about_a_network_is_drawn_with_what_stays_and_what_does_not(
    records: Records,
) -> None:
    identity = keep_network(network(GELU.name, slow=SOFTMAX.name), "d" * 64, records)
    app = page(record=str(identity))
    said = texts(app).replace("\\", "")
    assert "cannot draw" not in said
    assert "1 kernel of 2: 1.18× faster" in said
    assert "onnxsim: the graph of source; better kernel: 1.12×" in said
    assert column(app, "in the network") == [
        "stays: 1.12×",
        "in the network: 0.90× as fast with it",
    ]


def test_a_title_is_text_whatever_is_in_it(records: Records) -> None:
    evil = "<img src=x onerror=alert(1)> **bold** $x$"
    identity = records.add(replace(RACE, title=evil, kind="benchmark"))
    said = texts(page(record=str(identity)))
    assert "&lt;img src=x" in said
    assert "<img" not in said


def test_a_shared_server_lets_nobody_delete_or_import(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSLENS_LOCAL_FILES", "0")
    identity = records.add(RACE)
    app = page(record=str(identity))
    assert not [one for one in app.button if one.label.startswith("Delete")]
    app = page()
    assert "Import" not in [str(one.value) for one in app.subheader]


def test_what_comes_along_is_looked_at_without_being_added_to_ones_own(
    records: Records, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    along(monkeypatch, tmp_path)
    app = page()
    assert "No recordings yet" in texts(app)
    assert "Comes with Passlens" in texts(app)
    assert listed(app) == ["Race 3"]  # the first bundle, in place of an empty page
    button(app, "ResNet-50: race").click().run()
    assert listed(app) == ["Race 1", "Race 2"]
    assert "Recorded on NVIDIA H100 80GB HBM3, Xeon 8481C, 16 cores, 2026-11-01" in plain(app)
    assert records.count() == 0
    button(app, "Copy to my recordings").click().run()
    app.run()
    assert listed(app) == ["Race 2", "Race 1"]
    assert "2 of 2 recordings are new" in texts(app)
    assert records.count() == 2


def test_a_link_opens_one_that_comes_along(
    records: Records, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    along(monkeypatch, tmp_path)
    app = page(recorded="two:2")
    assert "Race 2" in texts(app)
    assert not [one for one in app.button if one.label.startswith("Delete")]
    button(app, "Others of this bundle").click().run()
    assert listed(app) == ["Race 1", "Race 2"]
    button(app, "All recordings").click().run()
    assert "No recordings yet" in texts(app)
    assert records.count() == 0


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("wrong", "'wrong.passlens' cannot be opened"),
        ("none-such", "No recording 'none-such' comes with this version"),
        ("two:9", "No recording 'two' comes with this version"),
        ("../two", "No recordings yet"),
    ],
)
def test_a_link_to_nothing_that_comes_along_is_one_sentence(
    records: Records, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, said: str
) -> None:
    along(monkeypatch, tmp_path)
    assert said in texts(page(recorded=place))


def along(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Three bundles in place of those that come with Passlens; one is none."""
    monkeypatch.setattr(shipped, "PACKED", folder)
    monkeypatch.setattr(shipped, "COMMITTED", folder / "none")
    (folder / "two.passlens").write_bytes(
        bundle_bytes([sample(1, machine=H100), sample(2, machine=H100)])
    )
    (folder / "one.passlens").write_bytes(bundle_bytes([sample(3, machine=H100, kind="benchmark")]))
    (folder / "wrong.passlens").write_text("no zip")


def test_a_database_that_is_away_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "notes.sqlite").write_text("dear diary, " * 100)
    monkeypatch.setenv("PASSLENS_DATABASE_URL", f"sqlite:///{tmp_path / 'notes.sqlite'}")
    for _ in _fresh():
        assert "not a database" in texts(page())
        services.keeper().keep(RACE)
        assert "The last result was not kept" in texts(page())


def test_variants_are_equal_if_labels_and_options_are() -> None:
    one = replace(RACE, measurements=(Measurement("a", options={"x": 1}, p50_ms=1.0),))
    two = replace(RACE, measurements=(Measurement("a", options={"x": 2}, p50_ms=2.0),))
    assert variants_of([one, one]) == {"a": [(0, 1.0), (1, 1.0)]}
    assert variants_of([one, two]) == {"a · x=1": [(0, 1.0)], "a · x=2": [(1, 2.0)]}


def test_a_variant_raced_for_both_questions_says_which_and_finds_itself_in_an_older_race() -> None:
    start = dict(STARTS["deployed"])
    rows = (Measurement("a", options=start, p50_ms=1.0), Measurement("a", p50_ms=2.0))
    both = replace(RACE, measurements=rows)
    older = replace(RACE, measurements=(Measurement("a", p50_ms=2.5),))
    assert variants_of([both, older]) == {
        "a · deployed": [(0, 1.0)],
        "a · bare": [(0, 2.0), (1, 2.5)],
    }
    assert measurements_table(rows)["options"] == ["deployed", "bare"]


def test_a_comparison_says_how_far_apart_and_what_else_differs() -> None:
    one = replace(RACE, id=1)
    faster = replace(RACE.measurements[0], p50_ms=6.25)
    two = replace(RACE, id=2, machine=H100, model="bert", model_hash="x", measurements=(faster,))
    apart = "source: 12.5 ms in #1, 6.25 ms in #2, 2.00× apart"
    assert finding([one, two]) == f"{apart}, not like with like"
    assert finding([one, replace(one, id=2, measurements=(faster,))]) == apart
    other_file = replace(faster, workload="f" * 64)
    assert cautions([one, replace(one, id=2, measurements=(other_file,))]) == [
        "Not the same graph in all of them: 'source'."
    ]
    assert cautions([one, replace(one, id=3)]) == []
    assert "profiler" in cautions([one, replace(one, id=3, kind="profile")])[0]
    assert [caution.partition(":")[0] for caution in cautions([one, two])] == [
        "Different machines",
        "Different models",
    ]
    table = comparison_table([one, two])
    assert table["variant"] == ["source", "step 38 (optimized)"]
    assert list(table.values())[2] == [6.25, None]
    other = replace(two, measurements=(Measurement("b", p50_ms=1.0),))
    assert finding([one, other]) == "No variant is in more than one of these recordings"


def test_the_figure_has_a_dot_a_recording_and_escapes_what_it_is_told() -> None:
    evil = replace(RACE, measurements=(Measurement("<a href='x'>" + "y" * 99, p50_ms=3.0),))
    figure: Any = median_dots([RACE, evil], ["#1", "#2"], title="<b>")
    dots = [trace for trace in figure.data if trace.mode == "markers+text"]
    assert [dot.x[0] for dot in dots] == [12.5, 9.54, 3.0]
    assert len({dot.y[0] for dot in dots}) == 3
    assert "<a" not in str(figure.layout.yaxis.ticktext)
    assert "<b>" not in figure.layout.title.text


def test_medians_far_apart_are_drawn_on_a_logarithmic_axis_that_holds_them() -> None:
    rows = tuple(Measurement(str(ms), p50_ms=ms) for ms in (0.02, 3.0, 900.0))
    figure: Any = median_dots([replace(RACE, measurements=rows)], [""], title="t")
    low, high = figure.layout.xaxis.range
    assert figure.layout.xaxis.type == "log"
    assert 10**low < 0.02 < 900 < 10**high


def test_columns_without_a_value_are_left_out() -> None:
    table = measurements_table([Measurement("a", p50_ms=1.0)])
    assert table == {"variant": ["a"], "p50, ms": [1.0]}


@pytest.mark.browser
def test_select_compare_export_and_import_in_a_browser(  # its `page` is a browser's
    page: Page, app_url: str, tmp_path: Path
) -> None:
    records = Records(os.environ["PASSLENS_DATABASE_URL"])
    for number in (1, 2):
        records.add(sample(number, model="of the browser", kind="benchmark"))
    page.goto(f"{app_url}/history?model=tour")
    page.get_by_role("textbox", name="Text").fill("of the browser")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 recordings found")).to_be_visible(timeout=PATIENCE_MS)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    for row in (0, 1):
        page.mouse.click(box["x"] + 16, box["y"] + 46 + 31 * row)
        page.get_by_role("button", name="Export").wait_for(timeout=PATIENCE_MS)
    expect(page.get_by_text("1.00× apart")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Bundle (.passlens)").click()
    bundle = tmp_path / "mine.passlens"
    download.value.save_as(bundle)
    assert bundle.read_bytes() == bundle_bytes(
        records.load(entry.id) for entry in records.find() if entry.model == "of the browser"
    )
    bundle.write_bytes(bundle_bytes([sample(3, model="of the bundle", kind="benchmark")]))
    page.locator("input[type=file]").first.set_input_files(bundle)
    expect(page.get_by_role("heading", name="Race 3")).to_be_visible(timeout=PATIENCE_MS)
    expect(page).to_have_url(re.compile(r"record=\d+"), timeout=PATIENCE_MS)
    page.reload()
    expect(page.get_by_text("from mine.passlens")).to_be_visible(timeout=PATIENCE_MS)
    records.close()
