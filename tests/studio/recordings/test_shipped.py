"""Recordings that come with Passlens, where nothing was measured yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx_ir as ir
import pytest
from streamlit.testing.v1 import AppTest

from optimizer.model.graph import Model
from profiling.records import Recording
from profiling.records.bundle import bundle_bytes
from studio.artifacts.opened import OpenedModel
from studio.graphview.summary import summary_of
from studio.race.job import RACE_EXPERIMENT, RaceReport
from studio.recordings import shipped
from studio.recordings.shipped import earlier, place_of
from tests.profiling.records.samples import sample
from tests.studio.races import THREE

pytestmark = pytest.mark.long

OPEN = "ab" * 32
"""Hash of the model of every sample."""


def race(headline: str) -> dict[str, Any]:
    """The payload of a race."""
    return RACE_EXPERIMENT.form.to_json(RaceReport("bert", OPEN, (THREE,), (), headline))


def fits(_: Recording) -> bool:
    return True


@pytest.fixture
def bundles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two recordings, of another model and of the open one."""
    monkeypatch.setattr(shipped, "PACKED", tmp_path)
    monkeypatch.setattr(shipped, "COMMITTED", tmp_path / "none")
    other = sample(1, model="bert", model_hash="cd" * 32, payload=race("Race 1"))
    (tmp_path / "along.passlens").write_bytes(
        bundle_bytes([other, sample(2, payload=race("Race 2"))])
    )


@pytest.mark.usefixtures("bundles")
def test_ones_own_goes_before_one_that_comes_along_and_that_of_the_open_model_before_others() -> (
    None
):
    mine = sample(9)
    assert earlier([mine], "race", OPEN, fits=fits) == shipped.Earlier(mine)
    same = earlier([], "race", OPEN, fits=fits)
    assert same is not None
    assert (same.bundle, same.recording.id, same.recording.title) == ("along", 2, "Race 2")
    other = earlier([], "race", "ef" * 32, fits=fits)
    assert other is not None
    assert other.recording.id == 1
    assert earlier([], "sweep", OPEN, fits=fits) is None
    assert earlier([mine], "race", OPEN, fits=lambda _: False) is None


@pytest.mark.usefixtures("bundles")
def test_it_is_labelled_for_what_it_is_and_leads_to_history() -> None:
    said = texts(shown("ef" * 32))
    assert "A recording that comes with Passlens" in said
    assert "Race of BERT, not of the model that is open" in said
    assert "Recorded on Xeon 8481C, 16 cores, 2026-11-01 00:01 UTC" in said
    assert "drawn: Race 1" in said
    assert "not of the model" not in texts(shown(OPEN))


@pytest.mark.usefixtures("bundles")
def test_one_that_cannot_be_drawn_leaves_the_page_standing() -> None:
    app = shown("broken")
    assert "cannot draw the recording" in texts(app)
    assert not app.exception


def shown(model_hash: str) -> AppTest:
    def script(model_hash: str) -> None:

        import streamlit as st

        from studio.page.experiment import show_earlier
        from studio.race import job
        from tests.studio.recordings.test_shipped import opened

        def show(report: job.RaceReport) -> None:
            if model_hash == "broken":
                raise KeyError(model_hash)
            st.text(f"drawn: {report.title}")

        show_earlier(job.RACE_EXPERIMENT, opened(model_hash), show)

    return AppTest.from_function(script, kwargs={"model_hash": model_hash}).run()


def opened(model_hash: str) -> OpenedModel:
    summary = replace(
        summary_of(Model(ir.Model(ir.Graph([], [], nodes=[]), ir_version=8), "m", "")),
        digest=model_hash,
    )
    return OpenedModel("key", Path(), summary)


def texts(app: AppTest) -> str:
    found: list[Any] = [*app.text, *app.markdown]
    return "\n".join(str(element.value) for element in found).replace("\\", "")


@pytest.mark.parametrize("text", ["", "a:0", "a:b", "../a", "a:1:2", "a" * 99])
def test_a_link_that_names_no_place_is_none(text: str) -> None:
    assert place_of(text) is None


@pytest.mark.parametrize("bundle", shipped.shipped(), ids=lambda bundle: bundle.name)
def test_everything_that_comes_along_can_be_drawn_and_says_what_it_is(
    bundle: shipped.Shipped,
) -> None:
    assert not bundle.problem
    assert ":" in bundle.title
    assert bundle.origin.startswith("Recorded on ")

    def script(name: str, number: int) -> None:
        from studio.history.opened import show_recording
        from studio.recordings.shipped import find_shipped

        bundle = find_shipped(name)
        assert bundle is not None
        show_recording(bundle.recordings[number - 1])

    for one in bundle.recordings:
        app = AppTest.from_function(
            script, default_timeout=180, kwargs={"name": bundle.name, "number": one.id}
        ).run()
        assert not app.exception
