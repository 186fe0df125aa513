"""Numbers of nodes that are kept beside a run are offered to the viewer, whatever they are of."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from optimizer.pipeline import Pipeline
from profiling.workers import default_pool
from studio import server
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.overlays import keep_numbers, kept_numbers, offered
from tests.coroutines import finished

Subject = tuple[Store, OpenedModel, OpenedRun]


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    store = Store(default_pool(), root=tmp_path_factory.mktemp("store"))
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return store, model, store.run(model, Pipeline.of("default"))


def get(address: str) -> Response:
    *_, model, run, overlay, file = address.split("/")
    place = {"model": model, "run": run, "overlay": overlay, "key": Path(file).stem}
    return finished(server.overlay(Request({"type": "http", "path_params": place})))


def test_an_overlay_nobody_named_is_offered_and_served(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, model, run = subject
    monkeypatch.setattr(server, "store", lambda: store)
    assert offered(model, run) == {}
    keep_numbers(run, "lengths", {"most": 40})
    keep_numbers(run, "node_times", {"profiles": []})
    told = offered(model, run)
    assert sorted(told) == ["lengths", "node_times"]
    assert json.loads(gzip.decompress(bytes(get(told["lengths"]["url"]).body))) == {"most": 40}
    assert get(told["lengths"]["url"].replace("lengths", "widths")).status_code == 404


def test_the_newest_numbers_are_offered_and_the_others_stay(subject: Subject) -> None:
    _, model, run = subject
    for size in (1, 2):
        keep_numbers(run, "sizes", {"size": size})
    assert [one["size"] for one in kept_numbers(run, "sizes")] == [2, 1]
    assert offered(model, None)["sizes"] == offered(model, run)["sizes"]


def test_of_a_run_that_was_cleared_away_nothing_is_kept(subject: Subject, tmp_path: Path) -> None:
    gone = replace(subject[2], folder=tmp_path / "gone")
    keep_numbers(gone, "sizes", {"size": 3})
    assert not gone.folder.exists()
