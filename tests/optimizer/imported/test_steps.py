"""A foreign tool as a pass: what it changes becomes steps, and what it breaks is taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model.graph import node_id
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.provenance import Provenance, successions
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import open_trace, save_trace
from profiling.workers import default_pool
from tests.optimizer.graphs import loaded, parsed
from tests.optimizer.imported.planted import planted

SOURCE = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,4] x) => (float[n,2] y, float[n,4] z)
<float[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[2] b = {1, -1}>
{
   [i] a = Identity(x)
   [t] h = Tanh(a)
   [m] p = MatMul(h, w)
   [s] z = Sin(h)
   [p] q = Add(p, b)
   [u] y = Tanh(q)
}"""


class Done:
    """One run of a planted tool, and what came of it."""

    def __init__(self, *how: str, seconds: float = 30.0, also: tuple[str, ...] = ()) -> None:
        model = loaded(parsed(SOURCE))
        self.source = to_bytes(model.ir)
        ours = Pipeline.listed(also).passes
        with planted() as tool:
            chosen = Pipeline((tool(how, seconds), *ours))
            self.trace: Trace = optimize(model, chosen, isolate=default_pool())
        self.result = to_bytes(model.ir)
        self.operators = [node.op_type for node in model.ir.graph]
        self.ids = [node_id(node) for node in model.ir.graph]

    @property
    def errors(self) -> list[str]:
        return [failed.error for failed in self.trace.failed]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("crash", "died of SIGSEGV"),
        ("raise", "it raises KeyError: 'no such tensor'"),
        ("garbage", "its result is no valid model: "),
        ("shape", "input 'x' has shape [2,4] instead of [n,4]"),
        ("order", "the outputs are in another order"),
        ("numbers", "breaks the model: output 'y': off by "),
    ],
)
def test_a_tool_that_fails_is_named_in_one_sentence_and_the_run_goes_on(
    how: str, told: str
) -> None:
    done = Done(how, "bypass")
    assert len(done.errors) == 1
    assert done.errors[0].startswith(f"Planted, {how}: ")
    assert told in done.errors[0]
    assert done.errors[0].endswith("; its step was not taken.")
    assert [r.rule for r in done.trace.rewrites] == ["Bypass"]
    assert done.operators == ["Tanh", "MatMul", "Sin", "Add", "Tanh"]


def test_a_tool_that_hangs_is_stopped() -> None:
    done = Done("hang", seconds=1)
    assert done.result == done.source
    assert "Stopped after 1 s (the limit)" in done.errors[0]


def test_a_tool_that_wants_too_much_memory_is_stopped() -> None:
    done = Done("hoard")
    assert done.result == done.source
    assert "memory" in done.errors[0]


def test_a_tool_that_changes_nothing_leaves_every_byte() -> None:
    done = Done("nothing")
    assert (done.trace.steps, done.trace.failed) == (0, [])
    assert done.result == done.source


def test_without_a_worker_process_the_pass_declines() -> None:
    model = loaded(parsed(SOURCE))
    with planted() as tool:
        trace = optimize(model, Pipeline((tool(("bypass",)),)))
    assert [d.reason for d in trace.declined] == [
        "The tool runs in a worker process, and there is none here"
    ]


def test_nodes_that_a_tool_leaves_keep_their_ids_and_only_what_changed_is_in_the_step() -> None:
    done = Done("bypass", "fuse")
    bypass, fuse = done.trace.rewrites
    assert (bypass.removed, bypass.added) == (("n0",), ())
    assert set(fuse.removed) == {"n2", "n4"}
    assert len(fuse.added) == 1
    assert done.operators == ["Tanh", "Sin", "Gemm", "Tanh"]
    assert [identity for identity in done.ids if identity not in fuse.added] == ["n1", "n3", "n5"]


def test_what_became_of_a_node_is_inferred_with_its_confidence() -> None:
    done = Done("bypass", "fuse")
    bypass, fuse = done.trace.rewrites
    assert fuse.inferred is not None
    assert fuse.inferred.confidence == 1.0
    assert [(s.kind, s.nodes, s.into) for s in successions(bypass)] == [
        ("bypassed", ("n0",), ("i0",))
    ]
    provenance = Provenance(done.trace)
    assert provenance.fate("n2").kind == "merged"
    assert set(provenance.origins(fuse.added[0])) == {"n2", "n4"}


def test_every_step_of_a_tool_is_undone_replayed_and_kept_in_a_file(tmp_path: Path) -> None:
    done = Done("bypass", "fuse")
    cursor = Cursor.at_end(done.trace)
    assert cursor.materialize(0) == done.source
    assert cursor.materialize(2) == done.result
    fresh = Cursor(GraphState(loaded(parsed(SOURCE)).ir), done.trace, step=0)
    assert fresh.materialize(2) == done.result
    save_trace(cursor, tmp_path / "a.trace")
    opened = open_trace(tmp_path / "a.trace")
    assert [r.inferred for r in opened.trace.rewrites] == [r.inferred for r in done.trace.rewrites]
    assert opened.materialize(2) == done.result


def test_our_passes_and_a_tool_take_turns() -> None:
    done = Done("bypass", also=("fuse-matmul-add",))
    assert [r.pass_id for r in done.trace.rewrites] == ["planted-tool", "fuse-matmul-add"]
