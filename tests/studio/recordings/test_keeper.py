from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from profiling.records import Records
from studio.gallery import gallery
from studio.recordings import keeper as keeping
from studio.recordings.keeper import Keeper, database_url
from tests.profiling.records.samples import RACE


@pytest.fixture
def records(database_url: str) -> Iterator[Records]:
    opened = Records(database_url)
    yield opened
    opened.close()


def test_what_is_kept_is_there(records: Records) -> None:
    keeper = Keeper(lambda: records, shared=False)
    identity = keeper.keep(RACE)
    assert identity is not None
    assert records.load(identity).title == RACE.title
    assert keeper.problem == ""


def test_a_shared_server_keeps_its_own_sample_networks_only(records: Records) -> None:
    keeper = Keeper(lambda: records, shared=True)
    sample = gallery.entries()[0]
    own = replace(RACE, model=sample.id, model_hash=sample.sha256)
    assert keeper.keep(RACE) is None
    assert keeper.keep(replace(own, model="salaries-2026.onnx")) is None
    assert keeper.keep(replace(own, model_hash=RACE.model_hash)) is None
    assert keeper.problem == ""
    assert keeper.keep(own) is not None
    assert records.count() == 1


def test_an_experiment_never_fails_for_its_recording(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    lost = Keeper(lambda: Records(f"sqlite:///{tmp_path}/file/r.sqlite"), shared=False)
    assert lost.keep(RACE) is None
    assert "stays on its page" in lost.problem
    wrong = Keeper(lambda: Records("nonsense"), shared=False)
    assert wrong.keep(RACE) is None
    assert "PASSLENS_DATABASE_URL" in wrong.problem


def test_a_problem_is_forgotten_once_something_is_kept(records: Records) -> None:
    keeper = Keeper(lambda: records, shared=False)
    keeper.keep(replace(RACE, payload={"x": float("inf")}))
    assert "JSON" in keeper.problem
    keeper.keep(RACE)
    assert keeper.problem == ""


def test_an_error_of_ours_is_no_end_either(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Records:
        raise RuntimeError("ours")

    keeper = Keeper(broken, shared=False)
    assert keeper.keep(RACE) is None
    assert "log says why" in keeper.problem
    assert "ours" in caplog.text


def test_recordings_lie_where_no_cleaner_comes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    odd = tmp_path / "a b?c%41"
    monkeypatch.delenv("PASSLENS_DATABASE_URL")
    monkeypatch.setattr(keeping.sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(odd))
    records = Records(database_url())
    records.add(RACE)
    records.close()
    assert (odd / "passlens" / "records.sqlite").is_file()


def test_the_variable_says_where_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSLENS_DATABASE_URL", "postgresql://somewhere/else")
    assert database_url() == "postgresql://somewhere/else"
