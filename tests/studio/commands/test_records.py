from __future__ import annotations

import json
from pathlib import Path

import pytest

from profiling.records import Records
from profiling.records.bundle import open_bundle
from studio.cli import main
from tests.profiling.records.samples import H100, sample


@pytest.fixture
def filled(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PASSLENS_DATABASE_URL", database_url)
    records = Records(database_url)
    for number in range(5):
        records.add(sample(number, model="bert" if number == 3 else "vit", machine=H100))
    records.close()
    return database_url


def test_list_says_what_is_there(filled: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "list", "--limit", "2"]) == 0
    said = capsys.readouterr()
    assert [line.split()[0] for line in said.out.splitlines()] == ["id", "5", "4"]
    assert said.err == "2 of 5 recordings\n"


def test_list_filters_and_speaks_json(filled: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--model", "bert", "--kind", "race", "--text", "h100", "--json"]
    assert main(["records", "list", *arguments]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "passlens.records/1"
    assert document["total"] == 1
    assert document["recordings"][0]["title"] == "Race 3"


def test_show_gives_measurements_or_everything(
    filled: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["records", "show", "1"]) == 0
    said = capsys.readouterr()
    assert "Recorded on NVIDIA H100" in said.err
    assert "12.5" in said.out
    assert main(["records", "show", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measurements"][0]["p50_ms"] == 12.5


def test_what_is_exported_can_be_imported_elsewhere(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "two.passlens"
    assert main(["records", "export", "2", "4", "-o", str(bundle)]) == 0
    assert [one.title for one in open_bundle(bundle)] == ["Race 1", "Race 3"]
    monkeypatch.setenv("PASSLENS_DATABASE_URL", f"sqlite:///{tmp_path / 'elsewhere.sqlite'}")
    assert main(["records", "import", str(bundle), str(bundle)]) == 0
    said = capsys.readouterr().err
    assert "2 of 2 are new" in said
    assert "0 of 2 are new" in said


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_exports_for_other_programs(filled: str, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    assert main(["records", "export", "1", "-o", str(path)]) == 0
    assert "Race 0" in path.read_text()


def test_mistakes_are_one_line_and_status_2(
    filled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.passlens").write_text("no zip")
    wrong = [
        ["show", "77"],
        ["export", "1", "-o", str(tmp_path / "picture.png")],
        ["export", "1", "-o", str(tmp_path / "no" / "folder.csv")],
        ["import", str(tmp_path / "x.passlens")],
        ["import", str(tmp_path / "missing.passlens")],
    ]
    for arguments in wrong:
        assert main(["records", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1
