from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import TraceError
from optimizer.model.loader import load_path
from optimizer.model.writer import to_bytes, write
from optimizer.pipeline import Pipeline
from optimizer.registry import passes
from optimizer.rewrite import graph_at as module
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.graph_at import (
    MOST_OPEN,
    TraceFiles,
    graph_at,
    own_graph_at,
    remember_cursor,
    trace_cursor,
)  # fmt: skip
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import save_trace
from tests.optimizer.graphs import loaded
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import seeded


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_open", type(module._open)())  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every source that is loaded."""
    seen: list[Path] = []

    def load(path: Path, *, follow_links: bool) -> object:
        seen.append(path)
        return load_path(path, follow_links=follow_links)

    monkeypatch.setattr(module, "load_path", load)
    return seen


def files(folder: Path, seed: int = 2) -> TraceFiles:
    """A random network and the trace of our passes over it."""
    folder.mkdir(exist_ok=True)
    model = loaded(seeded(seed, ALL_PATTERNS))
    source, trace = folder / "source.onnx", folder / "trace.zip"
    write(model.ir, source)
    model = load_path(source)
    cursor = Cursor.at_end(
        optimize(model, Pipeline(tuple(p() for p in passes() if p.presets)), stop=Stop())
    )
    assert cursor.step >= 3
    save_trace(cursor, trace, with_source=False)
    return TraceFiles(source, trace)


def test_any_order_of_steps_gives_the_same_graphs_and_one_load(
    tmp_path: Path, loads: list[Path]
) -> None:
    here = files(tmp_path)
    alone = {step: to_bytes(own_graph_at(here, step).ir) for step in (0, 1, 2, 3)}
    loads.clear()
    for step in (3, 0, 2, 2, 1, 3):
        assert to_bytes(graph_at(here, step)) == alone[step]
    assert loads == [here.source]


def test_a_source_that_was_written_anew_is_loaded_anew(tmp_path: Path, loads: list[Path]) -> None:
    graph_at(files(tmp_path, seed=11), 1)
    other = files(tmp_path, seed=9)
    assert to_bytes(graph_at(other, 1)) == to_bytes(own_graph_at(other, 1).ir)
    assert len(loads) == 3


def test_no_more_than_a_few_are_remembered(tmp_path: Path, loads: list[Path]) -> None:
    many = [files(tmp_path / str(number)) for number in range(MOST_OPEN + 1)]
    for one in many:
        graph_at(one, 1)
    loads.clear()
    graph_at(many[-1], 2)
    assert loads == []
    graph_at(many[0], 2)
    assert loads == [many[0].source]


def test_a_graph_of_ones_own_can_be_changed(tmp_path: Path) -> None:
    here = files(tmp_path)
    before = to_bytes(graph_at(here, 0))
    own_graph_at(here, 0).ir.graph.name = "changed"
    assert to_bytes(graph_at(here, 0)) == before


def test_a_cursor_that_somebody_failed_with_is_not_used_again(
    tmp_path: Path, loads: list[Path]
) -> None:
    here = files(tmp_path)
    with pytest.raises(TraceError, match="There is no step 999"):
        graph_at(here, 999)
    with pytest.raises(RuntimeError), trace_cursor(here):
        raise RuntimeError
    assert to_bytes(graph_at(here, 0)) == to_bytes(own_graph_at(here, 0).ir)
    assert len(loads) == 4


def test_who_has_just_run_the_passes_hands_the_graph_on_also_when_its_files_are_moved(
    tmp_path: Path, loads: list[Path]
) -> None:
    there = files(tmp_path / "draft")
    model = load_path(there.source)
    wanted = Pipeline(tuple(p() for p in passes() if p.presets))
    cursor = Cursor.at_end(optimize(model, wanted, stop=Stop()))
    remember_cursor(there, cursor)
    (tmp_path / "draft").rename(tmp_path / "kept")
    moved = TraceFiles(tmp_path / "kept" / "source.onnx", tmp_path / "kept" / "trace.zip")
    found = to_bytes(graph_at(moved, 2))
    assert loads == []
    module._open.clear()  # pyright: ignore[reportPrivateUsage]
    assert found == to_bytes(graph_at(moved, 2)), "as read from the files"
