from __future__ import annotations

import json
from pathlib import Path

import pytest

from profiling.cache.atomic_folder import obtain
from studio.artifacts.contents import pin
from studio.cli import main

KIB = 1024


def _ten_kib(draft: Path) -> None:
    (draft / "source.onnx").write_bytes(bytes(10 * KIB))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models of 10 KiB."""
    monkeypatch.setenv("PASSLENS_CACHE", str(tmp_path))
    monkeypatch.setenv("PASSLENS_CACHE_GIB", "1")
    for key in ("0" * 16, "1" * 16):
        obtain(tmp_path / "models" / key, _ten_kib)
    return tmp_path


def test_the_cache_is_told_by_kind(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache"]) == 0
    head, _, columns, row = capsys.readouterr().out.splitlines()
    assert head == f"{cache}: 2 items, 20 KiB of 1 GiB"
    assert columns.split() == ["kind", "items", "size"]
    assert row.split() == ["model", "2", "20", "KiB"]


def test_the_cache_is_emptied_but_for_what_is_open(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = pin(cache / "models" / ("1" * 16))
    assert held is not None
    assert main(["cache", "--clear", "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == "Removed 10 KiB; 10 KiB are open in a studio.\n"
    told = json.loads(said.out)
    assert told["schema"] == "passlens.cache/1"
    assert told["kinds"] == [{"kind": "model", "count": 1, "size_bytes": 10 * KIB}]
    held.release()
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"{cache}: 0 items, 0 B of 1 GiB\n"


def test_a_limit_that_is_no_number_is_bad_input(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PASSLENS_CACHE_GIB", "much")
    assert main(["cache"]) == 2
    assert "PASSLENS_CACHE_GIB is a number of GiB" in capsys.readouterr().err
