"""onnxscript's rules match by match, and fifteen traps of its rewriter; where it is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from optimizer.passes.imported.rewrite_by_onnxscript import RewriteByOnnxscript
from tests.optimizer.graphs import parsed
from tests.optimizer.imported.ruled import ABS, CHAIN, HEAD, RULES, Done

pytestmark = pytest.mark.skipif(bool(RewriteByOnnxscript.missing()), reason="needs onnxscript")


def test_each_match_is_a_step_with_the_nodes_it_matched_and_made(tmp_path: Path) -> None:
    text = """g (float[3] x) => (float[3] y, float[3] z) {
        a = Neg(x) b = Abs(a) c = Neg(b) d = Abs(c) y = Relu(d) z = Sin(b) }"""
    done = Done(tmp_path, text, ABS)
    first, second = done.trace.rewrites
    assert done.rules == ["AbsOfNeg", "AbsOfNeg"]
    assert [len(r.matched) for r in (first, second)] == [2, 2]
    assert (first.matched, first.removed) == (("n1", "n0"), ("n1", "n0"))
    assert first.inferred is None
    assert first.root == "n1"
    assert len(first.added) == 1
    assert second.depends_on == (1,)
    assert done.operators == ["Abs", "Abs", "Relu", "Sin"]
    assert done.agrees()


def test_a_search_finds_what_its_own_matches_make_possible(tmp_path: Path) -> None:
    text = "g (float[3] x) => (float[3] y) { a = Relu(x) b = Relu(a) c = Relu(b) y = Relu(c) }"
    rule = "twice = RewriteRule(lambda op, x: op.Relu(op.Relu(x)), lambda op, x: op.Relu(x))"
    done = Done(tmp_path, text, rule)
    assert done.operators == ["Relu"]
    assert done.rules == ["Twice"] * 3
    assert done.trace.rewrites[2].depends_on == (2,)


def test_trap_1_a_check_inside_an_alternative_is_made(tmp_path: Path) -> None:
    rule = """
    def no(context, node):
        return False
    def sought(op, x):
        return op.Relu(OrValue([op.Abs(op.Sqrt(x)), op.Abs(x, _check=no)]))
    checked = RewriteRule(sought, lambda op, x: op.Abs(x))
    """
    done = Done(tmp_path, CHAIN, rule)
    assert done.rules == []
    assert done.result == done.source


def test_trap_2_an_existing_value_may_be_the_replacement(tmp_path: Path) -> None:
    text = """g (float[3] x) => (float[3] y, float[3] z) {
        t = Identity(x) y = Relu(t) u = Sin(x) z = Identity(u) }"""
    rule = "gone = RewriteRule(lambda op, x: op.Identity(x), lambda op, x: x)"
    done = Done(tmp_path, text, rule)
    assert done.rules == ["Gone", "Gone"]
    assert done.operators == ["Relu", "Sin"]
    assert [value.name for value in done.graph.inputs] == ["x"]
    assert [value.name for value in done.graph.outputs] == ["y", "z"]
    assert done.agrees()


def test_trap_2_an_identity_that_only_hands_on_is_not_left_behind(tmp_path: Path) -> None:
    text = "g (float[3] x) => (float[3] y) <float one = {1}> { t = Mul(x, one) y = Relu(t) }"
    done = Done(tmp_path, text, ["default"])
    assert done.rules == ["MulBy1Rule"]
    assert done.operators == ["Relu"]


def test_trap_3_a_constant_whose_name_is_taken_gets_another(tmp_path: Path) -> None:
    text = """g (float[2] x) => (float[2] y) <float[2] w = {2, 3}> { a = Mul(x, w) y = Neg(a) }"""
    rule = """
    def minus(op, x):
        return op.Mul(x, op.initializer(ir.tensor(np.full(2, -1, "f4"), name="w")))
    by_minus_one = RewriteRule(lambda op, x: op.Neg(x), minus)
    """
    done = Done(tmp_path, text, rule)
    assert done.rules == ["ByMinusOne"]
    assert len(done.graph.initializers) == 2
    assert done.agrees()


def test_trap_4_what_a_rule_builds_and_drops_reads_nothing(tmp_path: Path) -> None:
    rule = """
    def undecided(op, x, t):
        op.Tanh(t)
        return None
    first = RewriteRule(lambda op, x: op.Relu(op.Abs(x, _outputs=["t"])), undecided)
    second = RewriteRule(lambda op, x: op.Relu(op.Abs(op.Neg(x))), lambda op, x: op.Abs(x))
    """
    assert Done(tmp_path, CHAIN, rule).rules == ["Second"]


TWO = """g (float[3] x) => (float[3] y, float[3] z) {
    a = Neg(x) b = Abs(a) c = Exp(x) y = Add(b, c) z = Sub(c, b) }"""
BOTH = """
def both(op, x):
    minus = op.Neg(x)
    return op.Reciprocal(op.Exp(minus)), minus
pair = RewriteRule(lambda op, x: (op.Exp(x), op.Neg(x)), both)
"""


def test_trap_5_readers_of_an_earlier_output_wait_for_the_replacement(tmp_path: Path) -> None:
    done = Done(tmp_path, TWO, BOTH)
    assert done.rules[:1] == ["Pair"]
    assert done.operators.index("Neg") < done.operators.index("Abs")
    assert done.agrees()


def test_trap_5_outputs_that_need_one_another_are_declined(tmp_path: Path) -> None:
    text = "g (float[3] x) => (float[3] y) { a = Neg(x) b = Abs(a) c = Exp(b) y = Add(a, c) }"
    rule = """
    def both(op, x, b):
        return op.Exp(op.Identity(b)), op.Neg(op.Identity(x))
    pair = RewriteRule(lambda op, x, b: (op.Exp(b), op.Neg(x)), both)
    """
    done = Done(tmp_path, text, rule)
    assert done.rules == []
    assert done.reasons == ["the replacement needs what it gives"]


def test_trap_6_a_pattern_with_two_outputs_is_sought_around_its_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from optimizer.imported.drivers.onnxscript_rules import find

    matcher: Any = import_module("onnxscript.rewriter._matcher").SimplePatternMatcher
    tried: list[object] = []
    multiple: Any = matcher._multi_match

    def counting(self: object, *arguments: object, **options: object) -> object:
        tried.append(self)
        return multiple(self, *arguments, **options)

    monkeypatch.setattr(matcher, "_multi_match", counting)
    file = tmp_path / "rules.py"
    file.write_text(RULES + BOTH)
    lines = " ".join(f"a{n} = Neg(x{n}) e{n} = Exp(a{n})" for n in range(40))
    inputs = ", ".join(f"float x{n}" for n in range(40))
    outputs = ", ".join(f"float e{n}" for n in range(40))
    model = parsed(f"{HEAD.format(17)}g ({inputs}) => ({outputs}) {{ {lines} }}")
    options = {"rules": (str(file),), "commute": False}
    find(model.SerializeToString(), options, (), 100)
    assert 0 < len(tried) <= 80


def test_trap_7_a_rule_of_another_operator_set_changes_nothing_and_says_so(tmp_path: Path) -> None:
    rule = """
    newer = RewriteRule(lambda op, x: op.Relu(x), lambda op, x: op.Gelu(x, _version=20))
    """
    done = Done(tmp_path, CHAIN, rule, opset=11)
    assert (done.rules, done.result == done.source) == ([], True)
    assert done.reasons == ["It writes another version of an operator set: 20, here is 11"]
    assert done.trace.declined[0].unlock == "Switch on raise-opset."


def test_trap_8_a_body_is_searched_and_a_pattern_across_its_border_is_told(tmp_path: Path) -> None:
    text = """g (float[4] x, bool c) => (float[4] y) { r = Neg(x)
        y = If(c) <then_branch = t () => (float[4] a) { a = Abs(r) },
                   else_branch = e () => (float[4] b) { q = Neg(x) b = Abs(q) }> }"""
    done = Done(tmp_path, text, ABS)
    assert done.rules == ["AbsOfNeg"]
    assert done.operators == ["Neg", "If", "Abs", "Abs"]
    assert done.reasons == ["The pattern crosses the border of a body"]
    assert done.agrees()


def test_trap_9_a_function_is_written_out_before_a_rule_adds_constants(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 18, "l" : 1]>
    g (float[4] x) => (float[4] y) { y = l.f(x) }
    <domain: "l", opset_import: ["" : 18]> f (a) => (b) { b = Neg(a) }"""
    rule = """
    def minus(op, x):
        return op.Mul(x, op.initializer(ir.tensor(np.full(4, -1, "f4"), name="k")))
    by_minus_one = RewriteRule(lambda op, x: op.Neg(x), minus)
    """
    done = Done(tmp_path, text, rule)
    assert (done.rules, done.operators) == (["ByMinusOne"], ["Mul"])
    assert len(done.graph.inputs[0].uses()) == 1


def test_trap_10_swapped_operands_are_found_without_a_pattern_for_each_order(
    tmp_path: Path,
) -> None:
    from optimizer.imported.drivers.onnxscript_sets import phases_of

    text = "g (float[3] x, float[3] z) => (float[3] y) { a = Neg(x) y = Add(z, a) }"
    rule = """
    minus = RewriteRule(lambda op, x, z: op.Add(op.Neg(x), z), lambda op, x, z: op.Sub(z, x))
    def long(op, x):
        for _ in range(12):
            x = op.Add(op.Abs(x), op.Sin(x))
        return x
    many = RewriteRule(long, lambda op, x: op.Neg(x))
    """
    assert Done(tmp_path, text, rule).rules == []
    assert Done(tmp_path, text, rule, commute=True).operators == ["Sub"]
    phase = phases_of([str(tmp_path / "rules.py")], swapped=True)[0]
    assert [named.name for named in phase.rules] == ["Minus", "Minus", "Many"]


def test_trap_11_an_attribute_left_at_its_default_is_found(tmp_path: Path) -> None:
    text = "g (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }"
    rule = """
    def spelled(op, x):
        return op.Exp(op.LogSoftmax(x, axis=-1))
    spell = RewriteRule(lambda op, x: op.Softmax(x, axis=-1), spelled)
    """
    done = Done(tmp_path, text, rule)
    assert done.rules == ["Spell"]
    assert done.agrees()


def test_trap_12_every_rule_has_a_name_and_values_keep_theirs(tmp_path: Path) -> None:
    from optimizer.imported.drivers.onnxscript_sets import phases_of

    names = [named.name for named in phases_of(["default"], swapped=False)[0].rules]
    assert len(names) == 46
    assert {"MulBy1Rule", "FuseBatchNormIntoConv", "CollapseSliceRule"} <= {*names}
    done = Done(tmp_path, CHAIN, ABS)
    assert [value.name for node in done.graph for value in node.outputs] == ["b", "y"]


def test_trap_13_two_outputs_do_not_become_the_same_value(tmp_path: Path) -> None:
    text = "g (float[3] x) => (float[3] y, float[3] z) { y = Relu(x) z = Identity(y) }"
    rule = "gone = RewriteRule(lambda op, x: op.Identity(x), lambda op, x: x)"
    done = Done(tmp_path, text, rule)
    assert done.result == done.source
    assert done.reasons == ["two graph outputs would become the same value"]


def test_trap_14_the_order_of_the_file_decides_and_one_run_is_enough(tmp_path: Path) -> None:
    special = """
    special = RewriteRule(lambda op, x: op.Relu(op.Abs(x)), lambda op, x: op.Abs(x))
    """
    general = """
    general = RewriteRule(lambda op, x: op.Relu(x), lambda op, x: op.LeakyRelu(x, alpha=0.0))
    """
    assert Done(tmp_path, CHAIN, special + general).rules == ["Special"]
    assert Done(tmp_path, CHAIN, general + special).rules == ["General"]
    assert Done(tmp_path, CHAIN, dedent(special) + ABS).operators == ["Abs"]


def test_trap_15_an_attribute_that_the_operator_set_lacks_is_declined(tmp_path: Path) -> None:
    text = "g (float[2,3] x) => (int64[1] y) <int64[1] i = {1}> { s = Shape(x) y = Gather(s, i) }"
    rule = """
    sliced = RewriteRule(
        lambda op, x, i: op.Gather(op.Shape(x), i), lambda op, x, i: op.Shape(x, start=1, end=2)
    )
    """
    done = Done(tmp_path, text, rule, opset=14)
    assert (done.rules, done.result == done.source) == ([], True)
    assert done.reasons[0].startswith("Shape of operator set 14 has no attribute")
    assert Done(tmp_path, text, rule, opset=17).operators == ["Shape"]


def test_trap_15_a_default_that_a_caller_may_override_is_no_constant(tmp_path: Path) -> None:
    text = """g (float[3] x, float one) => (float[3] y) <float one = {1}>
        { t = Mul(x, one) y = Relu(t) }"""
    done = Done(tmp_path, text, ["default"])
    assert (done.rules, done.errors, done.result == done.source) == ([], [], True)
