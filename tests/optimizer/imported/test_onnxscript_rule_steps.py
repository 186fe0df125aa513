"""Rules that break, raise, never end or die, and what becomes of their steps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import onnx
import pytest

from optimizer.passes.imported.rewrite_by_onnxscript import RewriteByOnnxscript
from optimizer.pipeline import Pipeline
from optimizer.pipeline_file import write_pipeline
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import open_trace, save_trace
from studio.cli import main
from tests.optimizer.graphs import loaded, parsed
from tests.optimizer.imported.ruled import ABS, CHAIN, HEAD, Done

pytestmark = pytest.mark.skipif(bool(RewriteByOnnxscript.missing()), reason="needs onnxscript")
PAGE = Path(__file__).parents[3] / "docs" / "imported-passes.md"
LONG = """g (float[3] x) => (float[3] y) {
    a = Neg(x) b = Abs(a) c = Sin(b) d = Neg(c) e = Abs(d) f = Cos(e) h = Neg(f) y = Abs(h) }"""


def test_a_match_that_breaks_the_model_is_found_among_those_that_do_not(tmp_path: Path) -> None:
    wrong = """
    wrong = RewriteRule(lambda op, x: op.Cos(x), lambda op, x: op.Sin(x))
    """
    done = Done(tmp_path, LONG, ABS + dedent(wrong))
    assert done.rules == ["AbsOfNeg"] * 3
    assert [failed.rule for failed in done.trace.failed] == ["Wrong"]
    told = r"onnxscript 0\.\S+, Wrong: breaks the model: output 'y': off by .*; its step was not .*"
    assert re.fullmatch(told, done.errors[0])
    assert done.trace.failed[0].root == "n5"
    assert done.operators == ["Abs", "Sin", "Abs", "Cos", "Abs"]
    assert done.agrees()


def test_a_rule_that_raises_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    raising = """
    def confused(op, x):
        raise KeyError("no such thing")
    raising = RewriteRule(lambda op, x: op.Relu(x), confused)
    """
    done = Done(tmp_path, CHAIN, ABS + dedent(raising))
    assert done.rules == ["AbsOfNeg"]
    assert len(done.errors) == 1
    assert "Raising: it raises KeyError: 'no such thing'; its step was not taken." in done.errors[0]


def test_a_rule_without_an_end_is_stopped_and_the_pipeline_goes_on(tmp_path: Path) -> None:
    endless = "again = RewriteRule(lambda op, x: op.Relu(x), lambda op, x: op.Relu(op.Relu(x)))"
    done = Done(tmp_path, CHAIN, endless)
    assert (done.rules, done.result == done.source) == ([], True)
    assert done.reasons == ["Its matches take up what they make, without an end"]


def test_a_long_chain_that_shrinks_match_by_match_has_an_end(tmp_path: Path) -> None:
    lines = " ".join(f"a{n + 1} = Relu(a{n})" for n in range(100))
    text = f"g (float[3] a0) => (float[3] a100) {{ {lines} }}"
    twice = "twice = RewriteRule(lambda op, x: op.Relu(op.Relu(x)), lambda op, x: op.Relu(x))"
    assert Done(tmp_path, text, twice).operators == ["Relu"]


def test_a_rule_that_kills_its_process_is_named_and_nothing_changes(tmp_path: Path) -> None:
    killing = """
    import os, signal
    def die(op, x):
        os.kill(os.getpid(), signal.SIGSEGV)
    killing = RewriteRule(lambda op, x: op.Relu(x), die)
    """
    done = Done(tmp_path, CHAIN, killing)
    assert done.result == done.source
    assert "died of SIGSEGV" in done.errors[0]


def test_an_operator_that_nothing_runs_is_not_left_behind(tmp_path: Path) -> None:
    rules = """
    half = RewriteRule(lambda op, x: op.Relu(x), lambda op, x: op.Half(x, _domain="my.own"))
    """
    taken_up = """
    rest = RewriteRule(
        lambda op, x: op.Half(op.Abs(x), _domain="my.own"), lambda op, x: op.Abs(x)
    )
    """
    alone = Done(tmp_path, CHAIN, rules)
    assert alone.result == alone.source
    assert alone.reasons == ["No rule takes up what it makes, and nothing runs it: Half"]
    both = Done(tmp_path, CHAIN, rules + taken_up)
    assert both.rules == ["Half", "Rest"]
    assert both.operators == ["Neg", "Abs"]
    assert both.agrees()


def test_a_condition_that_does_not_hold_is_told_in_the_words_of_the_rule(tmp_path: Path) -> None:
    rule = """
    def check(context, x):
        return MatchResult().fail("x is too small", x)
    sized = RewriteRule(lambda op, x: op.Abs(op.Neg(x)), lambda op, x: op.Abs(x), check)
    """
    done = Done(tmp_path, CHAIN, rule)
    declined = done.trace.declined[0]
    assert (declined.rule, declined.root, declined.reason) == ("Sized", "n1", "x is too small")
    assert set(declined.nodes) == {"n0", "n1"}


def test_a_vetoed_match_stays_and_the_others_are_taken(tmp_path: Path) -> None:
    free = Done(tmp_path, LONG, ABS)
    held = Done(tmp_path, LONG, ABS, vetoed=[free.trace.rewrites[1].match])
    assert [veto.match for veto in held.trace.vetoed] == [free.trace.rewrites[1].match]
    assert held.rules == ["AbsOfNeg"] * 2
    assert held.operators == ["Abs", "Sin", "Neg", "Abs", "Cos", "Abs"]


def test_steps_of_rules_are_undone_replayed_and_kept_in_a_file(tmp_path: Path) -> None:
    done = Done(tmp_path, LONG, ABS)
    cursor = Cursor.at_end(done.trace)
    assert cursor.materialize(0) == done.source
    assert cursor.materialize(3) == done.result
    fresh = Cursor(GraphState(loaded(parsed(HEAD.format(17) + LONG)).ir), done.trace, step=0)
    assert fresh.materialize(3) == done.result
    save_trace(cursor, tmp_path / "a.trace")
    assert open_trace(tmp_path / "a.trace").materialize(2) == cursor.materialize(2)


def test_a_file_of_rules_is_not_run_for_a_visitor(tmp_path: Path) -> None:
    written = f"open({str(tmp_path / 'ran')!r}, 'w').close()"
    done = Done(tmp_path, CHAIN, written, allowed=False)
    assert done.result == done.source
    assert done.reasons[0].startswith("Rules of a file or module are run only where a command")
    assert not (tmp_path / "ran").exists()


def test_a_file_that_is_not_there_is_told_in_one_sentence(tmp_path: Path) -> None:
    lost = str(tmp_path / "lost.py")
    assert Done(tmp_path, CHAIN, [lost]).reasons == [f"There is no file of rules: '{lost}'"]
    assert "there is no rule in" in Done(tmp_path, CHAIN, "nothing = 1").errors[0]


def test_the_rules_on_the_page_do_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    code = re.search(r"```python\n# my_rules.py\n(.*?)```", text, re.DOTALL)
    assert code is not None
    (tmp_path / "my_rules.py").write_text(code[1], encoding="utf-8")
    model = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3] x) => (float[2,3] y) { a = Sigmoid(x) b = Mul(x, a) c = Neg(b) y = Neg(c) }"""
    onnx.save(parsed(model), tmp_path / "m.onnx")
    command = re.search(r"passlens (optimize m.onnx [^`]*?my_rules\.py)", text, re.DOTALL)
    assert command is not None
    words = [
        str(tmp_path / w) if w.endswith("onnx") else w for w in command[1].split() if w != "\\"
    ]
    words = [word.replace("=my_rules", f"={tmp_path}/my_rules") for word in words]
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passes"]["rewrite-by-onnxscript"]["rewrites"] == 1
    assert report["after"]["operators"] == {"Sigmoid": 1, "Mul": 1}


def test_a_pipeline_that_somebody_shared_does_not_run_the_rules_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    onnx.save(parsed(HEAD.format(17) + CHAIN), tmp_path / "m.onnx")
    chosen = RewriteByOnnxscript((str(tmp_path / "rules.py"),))
    write_pipeline(Pipeline((chosen,)), tmp_path / "p.json")
    words = ["optimize", f"{tmp_path}/m.onnx", "-o", f"{tmp_path}/out.onnx"]
    assert main([*words, "--pipeline", f"{tmp_path}/p.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["near_misses"]
    assert told[0]["reason"].startswith("Rules of a file or module are run only where a command")
    assert not (tmp_path / "ran").exists()
