from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.cuda.findings import CaptureCheck
from profiling.cuda.stages_torch import TorchStages
from profiling.machine import this_machine
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.capture.checklist import verdict
from studio.capture.figure import gap_title, launch_timeline, stage_bars
from studio.capture.job import (
    CAPTURE_EXPERIMENT,
    CAPTURED,
    PLAIN,
    CaptureReport,
    CaptureRequest,
    CheckedVariant,
    check_variants,
    run_capture,
)
from studio.capture.report import stages_of_report
from studio.experiment import Equipment
from studio.gallery.gallery import open_path
from studio.variants.variant import LAST, TraceVariant
from tests.profiling.cuda import samples

pytestmark = pytest.mark.long

Subject = tuple[OpenedModel, OpenedRun]
VARIANTS = (TraceVariant("source", 0, RunConfig()), TraceVariant("last", LAST, RunConfig()))


@pytest.fixture(scope="module")
def opened(pool: WorkerPool, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Subject]:
    store = Store(pool, root=tmp_path_factory.mktemp("store"))
    model = store.open_file(open_path("tour"), name="Tour")
    return store, (model, store.run(model, Pipeline.of("default")))


def checked(opened: tuple[Store, Subject], pool: WorkerPool) -> tuple[CheckedVariant, ...]:
    store, subject = opened
    return check_variants(Equipment(store, pool, subject), VARIANTS)


def report(*, captured: bool = True) -> CaptureReport:
    """A report of made-up samples."""
    torch = TorchStages((1.0,), (2.0,), (0.1,), (0.4,), 64, "2.11", "a GPU")
    return CaptureReport(
        "Tour", "0" * 64, this_machine(), "2026-01-01T00:00:00+00:00", 12.0,
        "source", 0, "1" * 64, CaptureCheck(()), samples.side(captured=False),
        samples.side(captured=True) if captured else None, "" if captured else "it has a loop",
        torch,
    )  # fmt: skip


def test_the_tour_is_blocked_by_one_operator_that_the_default_pipeline_removes(
    opened: tuple[Store, Subject], pool: WorkerPool
) -> None:
    source, last = checked(opened, pool)
    assert {f.op_type for f in source.check.of("kernels") if f.severity == "blocks"} == {
        "SplitToSequence"
    }
    assert not source.check.possible
    assert verdict(source.check).startswith("cannot be captured: 2 of")
    assert last.check.possible
    assert last.step > 0
    assert verdict(last.check) == "can be captured, on a condition"
    assert verdict(CaptureCheck(())) == "can be captured"


def test_a_findings_node_is_that_of_the_trace(
    opened: tuple[Store, Subject], pool: WorkerPool
) -> None:
    _, subject = opened
    source, _ = checked(opened, pool)
    blocking = next(f for f in source.check.findings if f.severity == "blocks")
    graph = gzip.decompress((subject[0].folder / "graph.json.gz").read_bytes()).decode()
    assert f'"{blocking.node}"' in graph


def test_without_a_gpu_a_capture_ends_with_one_sentence(
    opened: tuple[Store, Subject], pool: WorkerPool
) -> None:
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU here")
    store, subject = opened
    with pytest.raises(StudioError, match="CUDA"):
        run_capture(Equipment(store, pool, subject), CaptureRequest(VARIANTS[0], 1.0))


@pytest.mark.parametrize("captured", [True, False])
def test_a_recorded_capture_opens_again(captured: bool) -> None:
    made = report(captured=captured)
    recording = CAPTURE_EXPERIMENT.recording(made)
    assert recording is not None
    assert recording.kind == "capture"
    assert CAPTURE_EXPERIMENT.form.from_json(json.loads(json.dumps(recording.payload))) == made
    assert [measured.error for measured in recording.measurements] == (
        ["", ""] if captured else ["", "it has a loop"]
    )


def test_a_damaged_recording_is_refused_in_one_sentence() -> None:
    payload = CAPTURE_EXPERIMENT.form.to_json(report())
    del payload["plain"]
    with pytest.raises(StudioError, match="damaged"):
        CAPTURE_EXPERIMENT.form.from_json(payload)
    with pytest.raises(StudioError, match="no recorded capture"):
        CAPTURE_EXPERIMENT.form.from_json({"schema": "something else"})


def test_the_finding_gives_both_medians_and_no_verdict() -> None:
    assert report().title == "source: 0.25 ms launched one by one, 0.25 ms as one graph"
    assert report(captured=False).title == "source: not captured, it has a loop"


def test_stages_are_drawn_for_the_model_and_for_torch() -> None:
    rows = stages_of_report(report())
    assert list(rows) == ["batch=1", "PyTorch, 64 layers"]
    figure = stage_bars(rows, title="t")
    data = cast("Any", figure).data
    assert [trace.name for trace in data] == ["define", "instantiate", "execute once"]


def test_gaps_between_launches_are_seen_to_close() -> None:
    traces = {PLAIN: samples.plain_trace(), CAPTURED: samples.captured_trace()}
    title = gap_title(traces)
    assert title == f"GPU without work: {PLAIN} 55 of 175 µs; {CAPTURED} 11 of 131 µs"
    figure = launch_timeline(traces, {PLAIN: "#888", CAPTURED: "#55f"})
    data = cast("Any", figure).data
    assert len(data) == 2
    assert gap_title({PLAIN: samples.trace_of([], samples.api_name)}) == "CUPTI saw no kernels"


def test_a_recorded_capture_is_drawn_with_its_tables() -> None:
    def page() -> None:
        from studio.capture.report import show_capture
        from tests.studio.capture.test_capture import report

        show_capture(report())

    app = AppTest.from_function(page, default_timeout=180).run()
    assert not app.exception
    assert [e.label for e in app.expander][:2] == ["Stages as a table", "Launches as a table"]
    assert len(app.get("plotly_chart")) == 2


def test_the_checklist_is_there_without_a_gpu_and_leads_to_a_node(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?model=tour&section=capture")
    table = page.locator(".capture-list")
    expect(table).to_contain_text("cannot be captured", timeout=180_000)
    marked = table.locator("tr td:nth-child(2) .no").count()
    assert marked == 2
    expect(table).to_contain_text(f"{marked} of ")
    expect(page.get_by_text("The three stages of a captured graph")).to_be_visible()
    page.goto(f"{app_url}/run?model=tour&section=capture&set=tf32=false")
    said = page.locator(".st-key-quiet-options")
    expect(said).to_contain_text("'TF32' counts on a GPU only.", timeout=180_000)
    expect(table).to_contain_text("cannot be captured", timeout=180_000)
    said.get_by_role("button", name="TF32: on").click()
    expect(said).to_have_count(0, timeout=180_000)
    page.get_by_role("button", name="Look at it").first.click()
    page.wait_for_url(re.compile(r"/(rewrite)?\?.*select=n\d+"))
