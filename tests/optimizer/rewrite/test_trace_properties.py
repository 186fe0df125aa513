"""What holds for every trace: replay, undo, any step, order, files, limits, vetoes, provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import onnx
import pytest

from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import passes
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.provenance import Provenance
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import open_trace, save_trace, trace_document
from tests.lanes import slow_but
from tests.optimizer.graphs import loaded
from tests.optimizer.passes import golden
from tests.optimizer.random_blocks import ALL_PATTERNS
from tests.optimizer.random_graphs import seeded

SEEDS = range(40)
SOURCES: Mapping[str, onnx.ModelProto] = {
    **{f"random-{seed}": seeded(seed, ALL_PATTERNS) for seed in SEEDS},
    **{
        f"{case.pass_id}/{case.path.stem}": onnx.parser.parse_model(case.before)
        for case in golden.cases()
        if not case.path.stem.startswith("keeps")
    },
}


@dataclass(frozen=True, slots=True)
class Run:
    """One run of all passes: the source's file, the trace, the optimized file."""

    source: bytes
    trace: Trace
    result: bytes


def all_passes(vetoed: Sequence[str] = (), *, also: str = "") -> Pipeline:
    """What presets switch on, and one pass more: those in no preset undo each other."""
    chosen = tuple(p() for p in passes() if p.presets or p.id == also)
    return Pipeline(chosen, vetoed=frozenset(vetoed))


def node_passes(vetoed: Sequence[str] = ()) -> Pipeline:
    chosen = tuple(p() for p in passes() if p.family == "node")
    return Pipeline(chosen, vetoed=frozenset(vetoed))


def run(name: str, pipeline: Pipeline | None = None, *, limit: int | None = None) -> Run:
    model = loaded(SOURCES[name])
    source = to_bytes(model.ir)
    trace = optimize(model, pipeline or all_passes(also=name.partition("/")[0]), stop=Stop(limit))
    return Run(source, trace, to_bytes(model.ir))


@cache
def whole(name: str) -> Run:
    """All passes to their fixpoint; tests leave the cursor at its end, where they find it."""
    return run(name)


def told(trace: Trace) -> list[object]:
    """A trace as plain data, without times."""
    return [{**rewrite, "seconds": 0.0} for rewrite in trace_document(trace)[0]["rewrites"]]


FIRST_CASES = {name.partition("/")[0]: name for name in reversed(SOURCES)}
"""A golden case of each pass, and every random graph."""

NESTED = "inline-known-branch/takes-control-flow-in-the-branch-with-it"
each = pytest.mark.parametrize("name", slow_but({*FIRST_CASES.values(), NESTED}, SOURCES))


@each
def test_replaying_a_trace_over_the_source_gives_the_optimized_file(name: str) -> None:
    done = whole(name)
    cursor = Cursor(GraphState(loaded(SOURCES[name]).ir), done.trace, step=0)
    assert cursor.materialize(0) == done.source
    assert cursor.materialize(done.trace.steps) == done.result


@each
def test_undoing_a_trace_gives_the_source_and_redoing_the_result(name: str) -> None:
    done = whole(name)
    cursor = Cursor.at_end(done.trace)
    assert cursor.materialize(0) == done.source
    assert cursor.materialize(done.trace.steps) == done.result


@each
def test_any_step_is_a_valid_model_and_the_same_however_it_is_reached(name: str) -> None:
    done = whole(name)
    cursor = Cursor.at_end(done.trace)
    steps = {step: cursor.materialize(step) for step in range(done.trace.steps + 1)}
    for data in steps.values():
        onnx.checker.check_model(data)
    order = [step for step in steps for _ in range(2)]
    Random(0).shuffle(order)
    for step in order:
        assert cursor.materialize(step) == steps[step]
    cursor.seek(done.trace.steps)


@each
def test_two_runs_make_the_same_rewrites_in_the_same_order(name: str) -> None:
    first, second = whole(name), run(name)
    assert told(first.trace) == told(second.trace)
    assert first.trace.declined == second.trace.declined
    assert first.result == second.result


@each
def test_nothing_is_done_to_nodes_that_went_away_with_a_body(name: str) -> None:
    gone: set[str] = set()
    for rewrite in whole(name).trace.rewrites:
        assert not gone & {rewrite.root, *rewrite.matched, *rewrite.removed}
        gone.update(rewrite.removed)


@each
def test_a_trace_file_opens_without_the_model_and_replays(name: str, tmp_path: Path) -> None:
    done = whole(name)
    path = tmp_path / "a.trace"
    save_trace(Cursor.at_end(done.trace), path)
    cursor = open_trace(path)
    assert told(cursor.trace) == told(done.trace)
    assert cursor.trace.declined == done.trace.declined
    assert cursor.materialize(0) == done.source
    assert cursor.materialize(done.trace.steps) == done.result


@pytest.mark.parametrize("seed", SEEDS)
def test_a_limit_gives_the_first_rewrites_of_the_whole_run(seed: int) -> None:
    done = whole(f"random-{seed}")
    for limit in range(1, done.trace.steps + 1, 3):
        short = run(f"random-{seed}", limit=limit)
        assert told(short.trace) == told(done.trace)[:limit]


def _descendants(trace: Trace, step: int) -> set[int]:
    found = {step}
    for rewrite in trace.rewrites:
        if found.intersection(rewrite.depends_on):
            found.add(rewrite.step)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_veto_of_a_node_pass_leaves_out_that_match_and_what_depends_on_it(seed: int) -> None:
    name = f"random-{seed}"
    done = run(name, node_passes())
    for rewrite in done.trace.rewrites:
        gone = _descendants(done.trace, rewrite.step)
        independent = {r.match for r in done.trace.rewrites if r.step not in gone}
        found = {r.match for r in run(name, node_passes([rewrite.match])).trace.rewrites}
        assert rewrite.match not in found
        assert independent <= found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_vetoed_match_is_never_applied_and_counted(seed: int) -> None:
    for rewrite in whole(f"random-{seed}").trace.rewrites[::3]:
        rest = run(f"random-{seed}", all_passes([rewrite.match]))
        assert rewrite.match not in {r.match for r in rest.trace.rewrites}
        assert rest.trace.timings[rewrite.pass_id].vetoed > 0
        onnx.checker.check_model(rest.result)


def ends_of(provenance: Provenance, node: str) -> tuple[str, ...]:
    """The nodes that do the work of a source node at the end."""
    fate = provenance.fate(node)
    return {"kept": (node, *fate.into), "merged": fate.into}.get(fate.kind, ())


@pytest.mark.parametrize("name", SOURCES)
def test_every_node_has_an_origin_and_every_source_node_a_fate(name: str) -> None:
    done = run(name)
    final = {node_id(node) for node in walk_nodes(Cursor.at_end(done.trace).model.graph)}
    graph = loaded(SOURCES[name]).ir.graph
    source = {node_id(node) for node in walk_nodes(graph)}
    provenance = Provenance(done.trace)
    for node in final:
        origins = provenance.origins(node)
        assert origins
        assert set(origins) <= source
    for node in map(node_id, graph):
        fate = provenance.fate(node)
        assert (fate.kind == "kept") == (node in final)
        ends = {end for end in fate.into if end.startswith("n") and "~w" not in end}
        assert ends <= final
        assert fate.kind == "dead" or fate.into or fate.kind == "kept"
    ends_in = {(node, end) for node in source for end in ends_of(provenance, node)}
    assert ends_in == {(origin, node) for node in final for origin in provenance.origins(node)}
