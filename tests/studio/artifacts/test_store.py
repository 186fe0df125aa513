from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from optimizer.verify import Verification
from optimizer.verify.verification import Verdict
from profiling.workers import default_pool
from studio.artifacts import store as store_module
from studio.artifacts.artifact import Value
from studio.artifacts.jobs import EXPORTED, PICTURE, PictureRequest
from studio.artifacts.opened import OpenedModel, Verified
from studio.artifacts.store import Store
from studio.gallery import gallery


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(default_pool(), root=tmp_path)


@pytest.fixture
def tour(store: Store) -> OpenedModel:
    return store.open_file(gallery.open_path("tour"), name="tour")


def test_a_model_opened_twice_is_opened_once(store: Store, tour: OpenedModel) -> None:
    written = (tour.folder / "graph.json.gz").stat().st_mtime_ns
    again = store.open_file(gallery.open_path("tour"), name="tour")
    assert again.key == tour.key
    assert (again.folder / "graph.json.gz").stat().st_mtime_ns == written


def test_a_model_opened_by_other_code_is_opened_anew(
    store: Store, tour: OpenedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = (tour.folder / "graph.json.gz").stat().st_mtime_ns
    monkeypatch.setattr(store_module, "code_version", lambda: "other")
    again = store.open_file(gallery.open_path("tour"), name="tour")
    assert again.key == tour.key
    assert (again.folder / "graph.json.gz").stat().st_mtime_ns != written


def test_a_run_gives_steps_a_model_at_a_step_a_trace_and_a_picture(
    store: Store, tour: OpenedModel
) -> None:
    run = store.run(tour, Pipeline.of("default"))
    assert run.result.steps > 20
    assert store.file(tour.key, run.key) is not None
    assert store.materialize(tour, run, 3).read_bytes()
    assert store.get(EXPORTED, (tour, run), None).stat().st_size > 1000
    dot = store.get(PICTURE, (tour, run), PictureRequest(3, None, "dot")).read_text()
    assert dot.startswith("digraph")


def test_where_nothing_was_rewritten_there_is_nothing_to_compare(
    store: Store, tour: OpenedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "verify", None)
    found = store.verified(tour, store.run(tour, Pipeline.of("none")))
    assert found == Verified("equal", "Nothing was rewritten: it is the source.")


@pytest.mark.parametrize(
    ("verdict", "reason", "text"),
    [
        (
            "differs",
            "The second model does not run: no kernel.",
            "Outputs differ: The rewritten model does not run: no kernel.",
        ),
        (
            "differs",
            "The second model crashes where the first one runs: SIGFPE.",
            "Outputs differ: The rewritten model crashes where the source runs: SIGFPE.",
        ),
        (
            "not_run",
            "The first model was not run: too large.",
            "Not verified: The source was not run: too large.",
        ),
        ("differs", "Output 'second model': 3.", "Outputs differ: Output 'second model': 3."),
    ],
)
def test_a_verdict_calls_the_models_source_and_rewritten_one(
    store: Store,
    tour: OpenedModel,
    monkeypatch: pytest.MonkeyPatch,
    verdict: Verdict,
    reason: str,
    text: str,
) -> None:
    def judged(*_: object, **__: object) -> Verification:
        return Verification(verdict, reason)

    monkeypatch.setattr(store_module, "verify", judged)
    assert store.verified(tour, store.run(tour, Pipeline.of("portable"))).text == text


def test_a_step_that_does_not_exist_leaves_nothing_behind(store: Store, tour: OpenedModel) -> None:
    run = store.run(tour, Pipeline.of("none"))
    with pytest.raises(StudioError, match="There is no step 7"):
        store.materialize(tour, run, 7)
    assert not list(run.folder.glob("*step-*"))


def test_keys_from_outside_cannot_leave_the_store(store: Store) -> None:
    for key in ("../../../etc/passwd", "", "0" * 15, "0" * 16 + "/..", "G" * 16):
        assert store.file(key) is None
        assert store.model(key) is None


def test_several_uploads_need_one_model_among_them(store: Store) -> None:
    with pytest.raises(StudioError, match=r"None of these files ends in '\.onnx'"):
        store.open_upload({"a.bin": b"1", "b.bin": b"2"})
    with pytest.raises(StudioError, match="2 models at once"):
        store.open_upload({"a.onnx": b"1", "b.onnx": b"2"})


def test_an_artifact_that_is_damaged_is_made_anew(
    store: Store, tour: OpenedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store.run(tour, Pipeline.of("default"))
    first = store.verified(tour, run)
    (file,) = run.folder.glob("verified-*/value.json.gz")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    nothing_read_yet = Value(Format(Verified, "passlens.verified/1", "verification"))
    monkeypatch.setattr(store_module, "VERIFIED", nothing_read_yet)
    assert store.verified(tour, run) == first
    assert file.read_bytes() == whole


def test_a_full_cache_lets_go_of_all_but_the_model_that_is_open(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = store.open_file(gallery.open_path("tour"), name="closed").folder
    gc.collect()
    tour = store.open_file(gallery.open_path("tour"), name="open")
    for used in store.root.rglob(".used"):
        os.utime(used, (1, 1))  # long ago
    monkeypatch.setenv("PASSLENS_CACHE_GIB", "0")
    run = store.run(tour, Pipeline.of("default"))
    assert not closed.exists()
    assert tour.folder.is_dir()
    assert run.folder.is_dir()
    assert store.materialize(tour, run, 1).is_file()
