from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.isolation import within_worker
from optimizer.model.graph import Model, node_id
from optimizer.model.loader import load_bytes
from optimizer.source import complete
from profiling.cuda.eligibility import check_model
from profiling.cuda.findings import RULES
from tests.profiling.cuda.planted import PLANTED, Planted


def opened(planted: Planted) -> Model:
    return complete(load_bytes(planted.data(), name=planted.name), isolate=within_worker)


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_each_planted_cause_is_found_and_nothing_else(planted: Planted) -> None:
    found = [
        f for f in check_model(opened(planted)).findings if f.severity in ("blocks", "condition")
    ]
    assert {finding.rule for finding in found} == ({planted.rule} if planted.rule else set())
    if planted.rule:
        assert {finding.severity for finding in found} == {planted.severity}
        assert found[0].remedy.endswith(".")
        assert not planted.place or found[0].place == planted.place


def test_there_are_twelve_models_and_every_rule_is_broken_once_or_twice() -> None:
    rules = [planted.rule for planted in PLANTED if planted.rule]
    assert len(PLANTED) == 12
    assert set(rules) == set(RULES)
    assert len(PLANTED) - len(rules) == 2


def test_a_finding_names_a_node_of_the_model() -> None:
    model = opened(_planted("an operator without a kernel"))
    finding = check_model(model).findings[0]
    assert finding.op_type == "Det"
    assert finding.node in {node_id(node) for node in model.ir.graph}


def test_binding_a_dimension_takes_the_condition_away() -> None:
    assert not check_model(opened(_planted("an open size")), {"batch": 4}).findings


def test_an_operator_newer_than_its_cuda_kernel_is_found() -> None:
    text = """g (float[1,2,4] x, float[2] s, float[2] b) => (float[1,2,4] z)
    { y = Relu (x) w = InstanceNormalization (y, s, b) z = Relu (w) }"""
    old, new = (Planted("versions", text, opset=opset) for opset in (21, 22))
    assert not check_model(opened(old)).findings
    finding = check_model(opened(new)).findings[0]
    assert finding.rule == "kernels"
    assert "opset 22" in finding.reason


def test_text_as_input_is_no_tensor_of_numbers() -> None:
    text = "g (string[3] x) => (string[3] z) { z = Identity (x) }"
    found = check_model(opened(Planted("text", text))).findings
    assert [f.place for f in found if f.rule == "tensors"] == ["x", "z"]


def test_an_input_read_on_both_sides_is_copied() -> None:
    text = """g (float[2,6] x, int64[2] k) => (float[N,M] z, int64[2] j)
    { y = Relu (x) z = Reshape (y, k) j = Add (k, k) }"""
    found = check_model(opened(Planted("both", text))).findings
    assert [f.rule for f in found if f.severity == "blocks"] == ["copies"]


def test_shapes_on_the_cpu_are_noted_only_where_they_are_not_folded() -> None:
    planted = _planted("clean, with shapes on the CPU")
    assert check_model(opened(planted)).findings == ()
    notes = check_model(opened(planted), folding=False).findings
    assert {(note.rule, note.severity, note.remedy) for note in notes} == {("kernels", "note", "")}


def test_a_cell_with_activations_of_its_own_stays_on_the_cpu() -> None:
    text = """g (float[4,1,3] x, float[1,8,3] w, float[1,8,2] r) => (float[4,1,1,2] z)
    { y = Relu (x) z = LSTM <hidden_size = 2 MORE> (y, w, r) }"""
    plain = Planted("plain", text.replace("MORE", ""))
    odd = replace(plain, text=text.replace("MORE", ', activations = ["Relu", "Tanh", "Tanh"]'))
    assert check_model(opened(plain)).findings == ()
    assert [finding.rule for finding in check_model(opened(odd)).findings] == ["kernels", "copies"]
    assert check_model(opened(odd)).findings[1].severity == "follows"


def _planted(name: str) -> Planted:
    return next(planted for planted in PLANTED if planted.name == name)
