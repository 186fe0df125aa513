"""Golden cases are theorems, and what conditions keep away is none."""

from __future__ import annotations

import itertools

import onnx
import pytest

from optimizer.passes.block.ranges import Range
from optimizer.registry import passes
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.passes import golden
from tests.optimizer.proofs import page
from tests.optimizer.proofs.dropped import DROPPED, Dropped
from tests.optimizer.proofs.proving import compared, proof_of, theory_of
from tests.optimizer.proofs.sizes import CLAIMS, Bounds, Claim, merged, taken, twice

ALGEBRA = (
    "eliminate-add-zero",
    "eliminate-noop-cast",
    "eliminate-noop-gather",
    "merge-clips",
    "merge-expands",
    "merge-gathers",
    "merge-pads",
    "merge-scales",
    "merge-slices",
    "merge-transposes",
    "reassociate-constants",
    "simplify-algebra",
    "simplify-selection",
)
"""Passes whose rules are identities: quick to prove."""
CASES = [case for case in golden.cases() if case.pass_id in ALGEBRA]
NOT_TO_THE_BIT = {
    "simplify-algebra/removes-relu-of-what-is-never-negative": "Sigmoid is any function here",
}
FIRING = [case for case in CASES if case.sections["before"] and "keeps" not in case.path.stem]


def _name(case: golden.Case) -> str:
    return f"{case.pass_id}/{case.path.stem}"


@pytest.mark.parametrize("case", FIRING, ids=_name)
def test_an_algebraic_rule_holds_for_all_inputs(case: golden.Case) -> None:
    proof = proof_of(case)
    if (known := NOT_TO_THE_BIT.get(_name(case))) is not None:
        assert proof is not None
        assert proof.detail == known
    else:
        assert proof is None or proof.verdict in ("proved", "proved up to rounding"), proof


@pytest.mark.parametrize("pass_id", ALGEBRA)
def test_a_wrong_result_is_no_theorem(pass_id: str) -> None:
    case = next(c for c in FIRING if c.pass_id == pass_id and proof_of(c) is not None)
    before = proto_of(opened(case.before).ir)
    wrong = onnx.ModelProto()
    wrong.CopyFrom(before)
    output = wrong.graph.output[0]
    op_type = "Not" if output.type.tensor_type.elem_type == onnx.TensorProto.BOOL else "Neg"
    last = next(node for node in wrong.graph.node if output.name in node.output)
    last.output[0] = "planted"
    wrong.graph.node.append(onnx.helper.make_node(op_type, ["planted"], [output.name]))
    theory = theory_of(case.configured.exactness)
    assert compared(before, wrong, theory).verdict in ("refuted", "open")


@pytest.mark.parametrize("one", DROPPED, ids=lambda d: f"{d.pass_id}: {d.condition}")
def test_without_its_condition_a_rule_is_refuted(one: Dropped) -> None:
    for model in one.models():
        onnx.checker.check_model(model)
    proof = one.proof()
    assert proof.verdict == "refuted"
    assert proof.detail


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.text[:60])
def test_claims_for_all_sizes_hold_or_are_refuted_as_they_say(claim: Claim) -> None:
    assert claim.verdict().startswith("proved" if claim.holds else "refuted: n = ")


def test_the_formula_of_slices_is_what_the_code_computes() -> None:
    for a, b, c, d in itertools.product(range(5), repeat=4):
        found = Range(a, b).of(Range(c, d))
        formula = merged(Bounds(a, b), Bounds(c, d), min)
        assert found == Range(formula.start, formula.stop)
        for size in range(6):
            line = range(size)
            whole = twice(Bounds(a, b), Bounds(c, d), size, min, max)
            assert [*line[a:b][c:d]] == [*range(whole.start, whole.stop)]
            one = taken(formula, size, min, max)
            assert [*line[formula.start : formula.stop]] == [*range(one.start, one.stop)]


def test_the_page_tells_of_every_pass_of_the_presets_and_of_every_condition() -> None:
    text = page.PAGE.read_text()
    for declared in passes():
        if declared.presets and declared.family in page.PROVED:
            assert f"[{declared.id}]" in text, "python -m tests.optimizer.proofs.page"
    assert all(one.condition in text for one in DROPPED)


@pytest.mark.slow
def test_the_page_says_what_z3_says() -> None:
    found = page.page(page.proofs())
    assert page.without_examples(page.PAGE.read_text()) == page.without_examples(found)
