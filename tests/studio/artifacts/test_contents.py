"""What goes when the cache is full, and what stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from optimizer.errors import StudioError
from studio.artifacts.contents import (
    Shrunk,
    clear,
    entries,
    kind_of,
    limit_bytes,
    pin,
    shrink,
    usage,
)

KIB = 1024
OLD, MODEL = "0" * 16, "1" * 16
RUN = "a" * 16


def entry(folder: Path, *, used: float, kib: int = 10) -> Path:
    """A folder of a size, used at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data").write_bytes(bytes(kib * KIB))
    (folder / ".used").touch()
    os.utime(folder / ".used", (used, used))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Two models, a run of each, artifacts of the runs, and a sample network; 80 KiB."""
    for model, used in ((OLD, 100.0), (MODEL, 200.0)):
        entry(tmp_path / "models" / model, used=used + 3)
        entry(tmp_path / "models" / model / RUN, used=used + 3)
        entry(tmp_path / "models" / model / RUN / "memory-map-0001", used=used + 1)
    entry(tmp_path / "models" / MODEL / RUN / "step-0001", used=203.0)
    entry(tmp_path / "gallery" / "0123", used=50.0)
    return tmp_path


PLAN = "2" * 16


def left(cache: Path) -> list[str]:
    return [str(one.folder.relative_to(cache)) for one in entries(cache)]


def test_the_usage_counts_every_byte_once_and_names_its_kind(cache: Path) -> None:
    found = usage(cache)
    assert found.size_bytes == 80 * KIB
    assert {kind.kind: (kind.count, kind.size_bytes) for kind in found.kinds} == {
        "model": (2, 20 * KIB),
        "run": (2, 20 * KIB),
        "memory map": (2, 20 * KIB),
        "step": (1, 10 * KIB),
        "sample network": (1, 10 * KIB),
    }
    assert found.count == 8


def test_what_was_not_used_for_longest_goes_first_and_no_more_than_is_needed(cache: Path) -> None:
    assert shrink(cache, limit=60 * KIB) == Shrunk(20 * KIB, 0)
    assert f"models/{OLD}/{RUN}" in left(cache)
    assert f"models/{OLD}/{RUN}/memory-map-0001" not in left(cache)
    assert "gallery/0123" not in left(cache)
    assert shrink(cache, limit=60 * KIB) == Shrunk(0, 0)
    assert usage(cache).size_bytes == 60 * KIB


def test_a_run_goes_after_what_was_made_of_it_and_a_model_after_its_runs(cache: Path) -> None:
    shrink(cache, limit=40 * KIB)
    assert left(cache) == [
        f"models/{MODEL}",
        f"models/{MODEL}/{RUN}",
        f"models/{MODEL}/{RUN}/memory-map-0001",
        f"models/{MODEL}/{RUN}/step-0001",
    ]
    shrink(cache, limit=15 * KIB)
    assert left(cache) == [f"models/{MODEL}"]


def test_an_open_model_stays_with_all_that_was_made_of_it(cache: Path) -> None:
    held = pin(cache / "models" / OLD)
    assert held is not None
    assert clear(cache) == Shrunk(50 * KIB, 30 * KIB)
    assert left(cache) == [
        f"models/{OLD}",
        f"models/{OLD}/{RUN}",
        f"models/{OLD}/{RUN}/memory-map-0001",
    ]
    held.release()
    assert clear(cache) == Shrunk(30 * KIB, 0)
    assert left(cache) == []
    assert list((cache / "models").iterdir()) == []


def test_a_plan_is_counted_and_goes_like_everything_else_unless_it_is_open(tmp_path: Path) -> None:
    held = pin(tmp_path / "plans" / PLAN)
    for key in (OLD, PLAN):
        entry(tmp_path / "plans" / key, used=100.0)
    assert held is not None
    assert [(kind.kind, kind.count) for kind in usage(tmp_path).kinds] == [("plan", 2)]
    assert clear(tmp_path) == Shrunk(10 * KIB, 10 * KIB)
    assert left(tmp_path) == [f"plans/{PLAN}"]
    held.release()
    assert clear(tmp_path) == Shrunk(10 * KIB, 0)


def test_what_is_being_used_stays_when_the_cache_shrinks_by_itself(cache: Path) -> None:
    (cache / "models" / OLD / ".used").touch()
    (cache / "models" / OLD / RUN / ".used").touch()
    shrink(cache, limit=0)
    assert left(cache) == [f"models/{OLD}", f"models/{OLD}/{RUN}"]


def test_a_cache_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert usage(tmp_path / "nowhere").kinds == ()
    assert clear(tmp_path / "nowhere") == Shrunk(0, 0)


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf"])
def test_a_limit_that_is_no_number_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSLENS_CACHE_GIB", text)
    with pytest.raises(StudioError, match="PASSLENS_CACHE_GIB is a number of GiB, 0 or more"):
        limit_bytes()


def test_the_limit_is_in_gibibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSLENS_CACHE_GIB", "0.5")
    assert limit_bytes() == 1 << 29


def test_an_artifacts_kind_is_in_its_name() -> None:
    assert kind_of(Path("predicted-steps-0123456789abcdef")) == "predicted-steps"
