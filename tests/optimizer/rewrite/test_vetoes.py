"""A veto means a place, not a name: what is held back there, and what is not."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import onnx
import pytest

from optimizer.model.loader import load_path
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import passes
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Rewrite, Trace
from optimizer.rewrite.trace_file import open_trace, save_trace
from studio.gallery import gallery
from tests.optimizer.graphs import loaded
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import seeded


def random_run(seed: int, vetoed: Iterable[str] = ()) -> tuple[Trace, bytes]:
    model = loaded(seeded(seed, ALL_PATTERNS))
    pipeline = Pipeline(tuple(p() for p in passes() if p.presets), vetoed=frozenset(vetoed))
    return optimize(model, pipeline), to_bytes(model.ir)


def gallery_run(name: str, vetoed: Iterable[str] = ()) -> Trace:
    model = load_path(gallery.open_path(name))
    SymbolicValues(model.ir).propagate(model.ir.graph)
    return optimize(model, Pipeline.of("default", vetoed=vetoed))


def place(rewrite: Rewrite) -> set[str]:
    """The nodes of its pattern that a rewrite took out."""
    return set(rewrite.matched) & set(rewrite.removed)


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_no_rewrite_of_the_pass_takes_out_a_node_of_a_vetoed_place(seed: int) -> None:
    for vetoed in random_run(seed)[0].rewrites[1::5]:
        trace, result = random_run(seed, [vetoed.match])
        again = [r for r in trace.rewrites if r.pass_id == vetoed.pass_id]
        assert not [r for r in again if place(r) & place(vetoed)], vetoed
        assert trace.vetoed[0].match == vetoed.match
        assert {held.veto for held in trace.vetoed} == {vetoed.match}
        onnx.checker.check_model(result)


def test_a_vetoed_chain_is_not_merged_from_its_other_end() -> None:
    """Two Transposes undo each other; asked about the other one, the rule finds the same two."""
    (chain,) = (r for r in gallery_run("tour").rewrites if r.match == "6075098cbfda")
    trace = gallery_run("tour", [chain.match])
    assert not [r for r in trace.rewrites if place(r) & place(chain)]
    assert [held.match for held in trace.vetoed] == ["6075098cbfda", "5f017b6a6c59"]
    assert {held.veto for held in trace.vetoed} == {"6075098cbfda"}


def test_both_names_of_a_place_may_be_vetoed_as_older_links_do() -> None:
    trace = gallery_run("tour", ["6075098cbfda", "5f017b6a6c59"])
    assert [held.veto for held in trace.vetoed] == ["6075098cbfda", "5f017b6a6c59"]


def test_another_pass_may_still_rewrite_the_place() -> None:
    source = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        main (float[2, 3] x) => (float[3, 2] y) {
            a = Transpose <perm = [0, 1]> (x)
            y = Transpose <perm = [1, 0]> (a)
        }
    """)
    first = optimize(loaded(source), Pipeline.of("default")).rewrites[0]
    assert first.rule == "IdentityTranspose"
    trace = optimize(loaded(source), Pipeline.of("default", vetoed=[first.match]))
    assert [(r.pass_id, place(r)) for r in trace.rewrites] == [("merge-transposes", {"n0", "n1"})]


def test_a_trace_file_keeps_what_was_held_back_and_opens_without_it(tmp_path: Path) -> None:
    vetoed = random_run(2)[0].rewrites[0]
    model = loaded(seeded(2, ALL_PATTERNS))
    pipeline = Pipeline(tuple(p() for p in passes() if p.presets), vetoed=frozenset([vetoed.match]))
    trace = optimize(model, pipeline)
    path = tmp_path / "a.trace"
    save_trace(Cursor.at_end(trace), path)
    assert open_trace(path).trace.vetoed == trace.vetoed != []
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(entries["trace.json"])
    del document["vetoed"]  # as traces were written before
    entries["trace.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    older = open_trace(path)
    assert older.trace.vetoed == []
    assert older.materialize(older.trace.steps) == to_bytes(Cursor.at_end(trace).model)
