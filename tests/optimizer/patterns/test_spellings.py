"""Every spelling of every pattern, as the smallest model that has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from optimizer.patterns import Pattern, patterns_of
from optimizer.patterns.pattern import has_core
from optimizer.patterns.spelling import Spelling, spellings
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, passes
from optimizer.rewrite.driver import optimize
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.patterns.skeleton import planted, smallest
from tests.optimizer.running import feeds_for, run


@dataclass(frozen=True, slots=True)
class Case:
    """One spelling of a rule's pattern."""

    declared: type[Pass]
    rule: str
    pattern: Pattern
    spelling: Spelling
    number: int

    def __str__(self) -> str:
        return f"{self.declared.id}/{self.rule}/{self.number}"


CASES = [
    Case(declared, rule, pattern, spelling, number)
    for declared in passes()
    for rule, pattern in patterns_of(declared)
    for number, spelling in enumerate(spellings(pattern), 1)
]
USUAL = [case for case in CASES if case.number == 1]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_spelling_is_replaced_in_one_step_and_computes_the_same(case: Case) -> None:
    proto = smallest(case.spelling)
    model = opened(proto)
    trace = optimize(model, Pipeline((case.declared(),)))
    assert [rewrite.rule for rewrite in trace.rewrites] == [case.rule], str(case.spelling)
    assert trace.declined == []
    feeds = feeds_for(proto)
    for before, after in zip(run(proto, feeds), run(proto_of(model.ir), feeds), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", USUAL, ids=str)
def test_a_number_that_is_off_is_named_with_what_it_is(case: Case) -> None:
    for proto in planted(case.spelling, 1.25):
        trace = optimize(opened(proto), Pipeline((case.declared(),)))
        assert trace.rewrites == []
        (declined,) = trace.declined
        assert declined.condition
        assert declined.detail.startswith("it is ")


@pytest.mark.parametrize("case", USUAL, ids=str)
def test_a_pattern_has_a_core_without_which_nothing_is_said(case: Case) -> None:
    assert has_core(case.pattern.root)
