from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.kernels.decision import Choice
from profiling.kernels.selection import Selection
from profiling.records import Recording
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.experiment import Equipment, Keep
from studio.kernels.figure import candidate_dots, hot_bars
from studio.kernels.job import (
    APPLY_EXPERIMENT,
    KERNELS_EXPERIMENT,
    ApplyRequest,
    KernelsReport,
    KernelsRequest,
)
from studio.kernels.report import command_line
from studio.variants.variant import TraceVariant
from tests.profiling.kernels.models import floats, parsed
from tests.profiling.settings import from_settings

pytestmark = pytest.mark.long

MODEL = """
g (float[1,16,32,32] x) => (float[1,16,32,32] y) {
    a = Conv<pads=[1,1,1,1]>(x, w1)
    b = Relu(a)
    y = Conv(b, w2)
}
"""
REQUEST = KernelsRequest(TraceVariant("optimized", 0, RunConfig()), seconds=0.2, top=1)

Subject = tuple[OpenedModel, OpenedRun]


@pytest.fixture(scope="module")
def place(pool: WorkerPool, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Subject]:
    folder = tmp_path_factory.mktemp("kernels")
    weights = {"w1": floats(16, 16, 3, 3), "w2": floats(16, 16, 1, 1, seed=1)}
    path = folder / "small.onnx"
    path.write_bytes(parsed(MODEL, weights))
    store = Store(pool, root=folder / "store")
    model = store.open_file(path, name="small.onnx")
    return store, (model, store.run(model, Pipeline.of("default")))


@pytest.fixture(scope="module")
def kept() -> list[Recording]:
    return []


@pytest.fixture(scope="module")
def report(place: tuple[Store, Subject], pool: WorkerPool, kept: list[Recording]) -> KernelsReport:
    store, subject = place
    with pytest.MonkeyPatch.context() as patch:  # what is asked of the times here is that they are
        patch.setattr("profiling.kernels.selection.LEAST_SECONDS", REQUEST.seconds)
        found = KERNELS_EXPERIMENT.conducted(
            Equipment(store, pool, subject), REQUEST, keeping(kept)
        )
    assert found.record_id == 7
    return found


def keeping(kept: list[Recording]) -> Keep:
    def keep(recording: Recording) -> int:
        kept.append(recording)
        return 7

    return keep


def test_the_experiment_keeps_one_recording_with_a_row_a_candidate(
    report: KernelsReport, kept: list[Recording]
) -> None:
    recording = kept[0]
    assert recording.kind == "kernels"
    assert recording.title == report.title
    assert "1 hot operator," in recording.title
    timed = [one for one in recording.measurements if one.p50_ms is not None]
    assert len(timed) == sum(
        row.p50_ms is not None for race in report.selection.races for row in race.rows()
    )
    assert {one.verdict for one in timed} >= {"the baseline"}
    assert len({one.label for one in recording.measurements}) == len(recording.measurements)


def test_a_recorded_report_opens_again(report: KernelsReport, kept: list[Recording]) -> None:
    payload = json.loads(json.dumps(dict(kept[0].payload), allow_nan=False))
    again = KERNELS_EXPERIMENT.form.from_json(payload)
    assert again.title == report.title
    assert again.machine == report.machine
    assert again.tuning == report.tuning
    assert [race.rows() for race in again.selection.races] == [
        race.rows() for race in report.selection.races
    ]


@pytest.fixture(scope="module")
def applied(
    report: KernelsReport, place: tuple[Store, Subject], pool: WorkerPool, kept: list[Recording]
) -> KernelsReport:
    # What wins is a matter of this machine and minute; what follows from a win is not.
    def layout(_selection: Selection, *, lossy: bool) -> Choice:
        return Choice({"graph_optimization": "all"}, {}, 0.12, 0.0, 0.12) if not lossy else Choice()

    store, subject = place
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("studio.kernels.job.choose", layout)
        bench, request = Equipment(store, pool, subject), ApplyRequest(REQUEST, report)
        return APPLY_EXPERIMENT.conducted(bench, request, keeping(kept))


def test_what_won_is_raced_in_the_whole_model_and_recorded(
    applied: KernelsReport, kept: list[Recording]
) -> None:
    assert applied.title.startswith("Whole model: predicted 12 % less time, measured")
    recording = kept[-1]
    assert [one.label for one in recording.measurements[:2]] == [
        "whole model, as it is",
        "whole model, chosen options",
    ]
    again = KERNELS_EXPERIMENT.form.from_json(json.loads(json.dumps(dict(recording.payload))))
    assert again.confirmation == applied.confirmation


def test_equal_requests_share_a_key_and_others_do_not(place: tuple[Store, Subject]) -> None:
    _, subject = place
    other = KernelsRequest(TraceVariant("optimized", 0, RunConfig(intra_threads=2)), 0.2, 1)
    same = KernelsRequest(TraceVariant("optimized", 0, RunConfig()), 0.2, 1)
    key = KERNELS_EXPERIMENT.key
    assert key(subject, REQUEST) == key(subject, same)
    assert key(subject, REQUEST) != key(subject, other)


def drawn(figure: go.Figure) -> dict[str, Any]:
    return json.loads(figure.to_json() or "")


def test_figures_show_every_raced_workload_and_every_measured_candidate(
    report: KernelsReport,
) -> None:
    hot = report.selection.hotspots
    keys = frozenset(race.operator.workload.key for race in report.selection.races)
    bars = drawn(hot_bars(hot, raced=keys, title="<b>"))
    assert bars["layout"]["title"]["text"] == "&lt;b&gt;"
    assert len(bars["data"][0]["text"]) == len(hot.operators)
    for race in report.selection.races:
        traces = drawn(candidate_dots(race))["data"]
        markers = [trace for trace in traces if trace["mode"] == "markers"]
        compared = [row for row in race.rows() if row.believable and row.contrast is not None]
        assert len(markers) == len(compared)


def test_options_are_shown_as_the_command_line_takes_them() -> None:
    changes = {"graph_optimization": "all", "spinning": True, "intra_threads": 0}
    text = command_line(changes)
    assert text == "--set graph_optimization=all --set spinning=true --set intra_threads=0"
    settings = [part for part in text.split() if part != "--set"]
    assert from_settings(settings) == RunConfig(
        graph_optimization="all", spinning=True, intra_threads=0
    )


def _page(path: str) -> None:
    import json
    from pathlib import Path

    from studio.kernels.job import KERNELS_EXPERIMENT
    from studio.kernels.report import show_kernels

    show_kernels(KERNELS_EXPERIMENT.form.from_json(json.loads(Path(path).read_text())))


def test_a_recorded_report_is_drawn_with_a_table_beside_each_figure(
    kept: list[Recording], report: KernelsReport, tmp_path: Path
) -> None:
    path = tmp_path / "payload.json"
    path.write_text(json.dumps(dict(kept[0].payload)))
    page = AppTest.from_function(_page, args=(str(path),), default_timeout=180).run()
    assert not page.exception
    labels = [expander.label for expander in page.expander]
    assert labels.count("Candidates as a table") == len(report.selection.races)
    assert any("GPU candidates" in label for label in labels)
    tables = [frame.value for frame in page.dataframe]
    assert any("no NVIDIA driver" in str(table) for table in tables) or any(
        "GPU candidates" not in label for label in labels
    )


def _applied(path: str) -> None:
    import json
    from pathlib import Path
    from typing import cast

    from profiling.config import RunConfig
    from studio.kernels.job import KERNELS_EXPERIMENT
    from studio.kernels.page import show_applied
    from studio.variants.variant import Chosen, RunSetup, TraceVariant

    variants = (
        TraceVariant("source", 0, RunConfig()),
        TraceVariant("default preset", 1, RunConfig()),
    )
    nothing = cast("Any", None)
    setup = RunSetup(nothing, nothing, Chosen((variants,)), 2.0)
    show_applied(
        KERNELS_EXPERIMENT.form.from_json(json.loads(Path(path).read_text())), variants[1], setup
    )


def test_options_that_won_become_a_variant_of_the_page(
    applied: KernelsReport, tmp_path: Path
) -> None:
    payload = json.loads(json.dumps(KERNELS_EXPERIMENT.form.to_json(applied)))
    payload["confirmation"]["adopted"] = "chosen options"
    path = tmp_path / "payload.json"
    path.write_text(json.dumps(payload))
    page = AppTest.from_function(_applied, args=(str(path),), default_timeout=180).run()
    assert not page.exception
    assert page.code[0].value == "--set graph_optimization=all"
    page.button(key="kernels-add").click().run()
    assert not page.exception
    assert page.query_params["race"] == "source,last,last~graph_optimization=all"
