"""Profiles in the records: nothing is lost, and large ones fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.records import Recording, Records
from profiling.timeline.finding import finding
from profiling.workers import default_pool
from studio.artifacts.store import Store
from studio.experiment import Equipment
from studio.gallery import gallery
from studio.timeline.job import PROFILE_EXPERIMENT, ProfileRequest
from studio.timeline.page import how
from studio.timeline.result import PROFILE_REPORT, ProfileReport
from studio.variants.variant import LAST, TraceVariant
from tests.studio.profiles import profiled

pytestmark = pytest.mark.long

VARIANTS = (
    TraceVariant("source", 0, RunConfig()),
    TraceVariant("default", LAST, RunConfig()),
    TraceVariant("runtime's own", 0, RunConfig(graph_optimization="all")),
)


@pytest.fixture(scope="module")
def kept() -> list[Recording]:
    return []


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, kept: list[Recording]) -> ProfileReport:
    def keep(recording: Recording) -> int:
        kept.append(recording)
        return 7

    store = Store(default_pool(), root=tmp_path_factory.mktemp("store"))
    model = store.open_file(gallery.open_path("tour"), name="tour")
    bench = Equipment(store, default_pool(), (model, store.run(model, Pipeline.of("default"))))
    return PROFILE_EXPERIMENT.conducted(bench, ProfileRequest(VARIANTS, runs=3), keep)


def test_a_recorded_profile_is_the_same_profile(
    report: ProfileReport, kept: list[Recording]
) -> None:
    (recording,) = kept
    assert report.record_id == 7
    assert recording.kind == "profile"
    again = PROFILE_REPORT.from_json(json.loads(json.dumps(recording.payload)))
    assert again == replace(report, record_id=None)
    assert recording.title == finding(report.profiles, "steady")


def test_a_recorded_profile_has_a_row_a_variant(
    report: ProfileReport, kept: list[Recording]
) -> None:
    rows = kept[0].measurements
    assert [(row.label, row.step, row.runs) for row in rows] == [
        ("source", 0, 2), ("default", report.variants[1].step, 2), ("runtime's own", 0, 2),
    ]  # fmt: skip
    assert rows[0].workload == rows[2].workload != rows[1].workload
    assert rows[2].options == {"graph_optimization": "all"}
    source = report.profiles["source"]
    assert source.first is not None
    assert source.profiler is not None
    assert rows[0].first_ms == source.first.duration_us / 1000
    assert rows[0].min_ms == min(source.profiler.bare_us) / 1000
    assert rows[0].verdict == "timed without the profiler, in turns with profiled runs"


def test_a_profile_says_which_variant_ran_without_some_of_its_kernels() -> None:
    def script() -> None:
        from dataclasses import replace

        from studio.timeline.page import show_failures
        from tests.studio.profiles import profiled

        report = profiled(runs=2)
        first = report.variants[0]
        assert first.profile is not None
        without = replace(first.profile, left_out=("Kernel k has no code.", "Nor has l."))
        found = (replace(first, profile=without), *report.variants[1:])
        show_failures(replace(report, variants=found))

    app = AppTest.from_function(script, default_timeout=60).run()
    assert [one.value for one in app.text] == [
        "'a' ran without 2 kernels, whose operators ran: Kernel k has no code.",
        "b: It does not run.",
    ]


def test_profiles_in_which_nothing_ran_are_not_kept() -> None:
    made = profiled(runs=1)
    nothing = replace(made, variants=made.variants[1:])
    assert PROFILE_EXPERIMENT.recording(nothing) is None


@pytest.mark.slow
def test_a_profile_of_ten_thousand_operators_fits_into_the_records(tmp_path: Path) -> None:
    made = profiled(runs=6, operators=10_000, variants=6)
    assert_kept_with_two_runs(made, PROFILE_EXPERIMENT.recording(made), tmp_path)


def test_of_a_profile_that_is_too_large_the_drawn_runs_are_kept(tmp_path: Path) -> None:
    made = profiled(runs=6, operators=100, variants=6)
    recording = PROFILE_EXPERIMENT.recording(made, most_bytes=100_000)
    assert_kept_with_two_runs(made, recording, tmp_path)


def assert_kept_with_two_runs(
    made: ProfileReport, recording: Recording | None, tmp_path: Path
) -> None:
    assert recording is not None
    with Records(f"sqlite:///{tmp_path / 'r.sqlite'}") as records:
        again = PROFILE_REPORT.from_json(records.load(records.add(recording)).payload)
    assert {len(profile.timeline.runs) for profile in again.profiles.values()} == {2}
    assert again.profiles["a"].run("steady") == made.profiles["a"].run("steady")
    assert [row.runs for row in recording.measurements] == [5] * 6 + [0]
    assert "6 (2 kept) runs of each" in how(again)


@pytest.mark.parametrize("payload", [{}, {"schema": PROFILE_REPORT.schema}, {"schema": 1}])
def test_a_damaged_profile_is_one_sentence(payload: dict[str, Any]) -> None:
    with pytest.raises(StudioError, match="recorded profile"):
        PROFILE_REPORT.from_json(payload)
