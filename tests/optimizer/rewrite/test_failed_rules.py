"""A rule that raises: undone, written down, and asked no more."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import onnx_ir as ir
import pytest

from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, rule
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import open_trace, save_trace
from optimizer.rules import Context, NewNode, Outcome, Replacement
from tests.optimizer.graphs import loaded, parsed
from tests.optimizer.rewrite.failing import planted

SOURCE = """<ir_version: 9, opset_import: ["" : 18]>
g (float[2,3] x) => (float[2,3] y) {
    a = Identity(x)
    b = Relu(a)
    c = Exp(b)
    d = Sigmoid(c)
    e = Tanh(d)
    [last] f = Tanh(e)
    y = Identity(f)
}"""


def run(*, disable: tuple[str, ...] = ()) -> tuple[bytes, Trace, bytes]:
    model = loaded(parsed(SOURCE))
    source = to_bytes(model.ir)
    with planted():
        trace = optimize(model, Pipeline.of("default", disable=disable))
    return source, trace, to_bytes(model.ir)


def test_what_a_failing_rule_began_is_undone_and_the_run_goes_on() -> None:
    _, trace, result = run()
    model = loaded(parsed(SOURCE.replace("e = Tanh(d)", "e = Identity(d)")))
    optimize(model, Pipeline.of("default"))
    assert {rewrite.pass_id for rewrite in trace.rewrites} == {"planted-bug", "eliminate-identity"}
    assert result == to_bytes(model.ir)


def test_the_trace_keeps_pass_rule_place_and_error_of_each_rule_once() -> None:
    _, trace, _ = run()
    told = {f.rule: f for f in trace.failed}
    assert len(told) == len(trace.failed) == 3
    assert {f.pass_id for f in trace.failed} == {"planted-bug"}
    assert (told["RaisesAtOnce"].root, told["RaisesAtOnce"].matched) == ("n1", ())
    assert told["RaisesAtOnce"].error.startswith("KeyError: 'no scale for Relu' (failing.py, line")
    assert (told["RaisesHalfway"].root, told["RaisesHalfway"].matched) == ("n3", ("n3",))
    assert told["RaisesHalfway"].error.startswith("TypeError: ")
    assert told["FirstTheSecondTime"].step == 2
    assert [r.rule for r in trace.rewrites].count("FirstTheSecondTime") == 1


def test_a_trace_with_failures_goes_into_a_file_and_comes_back(tmp_path: Path) -> None:
    source, trace, result = run()
    path = tmp_path / "failed.trace"
    save_trace(Cursor.at_end(trace), path)
    cursor = open_trace(path)
    assert cursor.trace.failed == trace.failed
    assert cursor.materialize(trace.steps) == result
    assert cursor.materialize(0) == source


def test_a_file_from_before_there_were_failures_opens_as_one_without(tmp_path: Path) -> None:
    _, trace, _ = run(disable=("planted-bug",))
    path = tmp_path / "old.trace"
    save_trace(Cursor.at_end(trace), path)
    with zipfile.ZipFile(path) as archive:
        assert "failed" not in json.loads(archive.read("trace.json"))
    assert open_trace(path).trace.failed == []


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_every_step_beside_a_failure_is_there_forward_and_backward(step: int) -> None:
    _, trace, result = run()
    cursor = Cursor.at_end(trace)
    there = cursor.materialize(step)
    assert cursor.materialize(trace.steps) == result
    assert cursor.materialize(step) == there


class TurnsRound(Pass):
    """Writes one operator as another one, and back."""

    id = "turns-round"
    family = "node"

    @rule("Ceil", "Floor", name="Turned")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The other one."""
        other = {"Ceil": "Floor", "Floor": "Ceil"}[node.op_type]
        return Replacement.by(NewNode(other, node.inputs), "A test may.", node)


def test_rules_that_undo_each_other_are_stopped_and_the_trace_says_so() -> None:
    source = parsed(SOURCE.replace("Exp", "Ceil"))
    trace = optimize(loaded(source), Pipeline((TurnsRound(),)))
    assert trace.stopped == "Rules undid each other; stopped after 64 rewrites at one place."
    assert trace.steps == 66
