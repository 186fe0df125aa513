"""A wrong rule among honest passes: that the result is wrong is seen, and which step made it so."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from optimizer.model.graph import Model
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.source import complete
from optimizer.verify import bisect, verify
from profiling.workers import WorkerPool
from tests.optimizer.verify.wrong_rules import WRONG, Wrong, network

pytestmark = pytest.mark.long

BEFORE = 10
"""A third of the honest steps that a trace has at least."""


def _source(isolate: WorkerPool) -> Model:
    return complete(load_bytes(network(), name="tour"), isolate=isolate)


@cache
def _honest() -> Pipeline:
    return Pipeline.of("default")


def _with(wrong: type[Wrong]) -> Pipeline:
    """The default preset with a wrong pass at its place."""
    members = [*_honest().passes]
    families = ("node", "block")
    place = next(
        number
        for number, one in enumerate(members)
        if one.family not in families or (one.family == "block" and one.order > wrong.order)
    )
    return replace(_honest(), passes=(*members[:place], wrong(), *members[place:]))


def test_the_network_is_optimized_right_without_wrong_rules(isolate: WorkerPool) -> None:
    model = _source(isolate)
    before = to_bytes(model.ir)
    trace = optimize(model, _honest(), isolate=isolate)
    assert trace.steps > 3 * BEFORE
    found = verify(before, to_bytes(model.ir), isolate=isolate, seeds=2)
    assert found.verdict == "equal"
    assert found.informative


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: w.id)
def test_a_wrong_rule_is_caught_and_its_first_step_found(
    wrong: type[Wrong], isolate: WorkerPool
) -> None:
    model = _source(isolate)
    before = to_bytes(model.ir)
    trace = optimize(model, _with(wrong), isolate=isolate)
    steps = [rewrite.step for rewrite in trace.rewrites if rewrite.pass_id == wrong.id]
    assert steps
    assert trace.steps - len(steps) >= 3 * BEFORE
    assert verify(before, to_bytes(model.ir), isolate=isolate, seeds=2).failed
    found = bisect(Cursor.at_end(trace).materialize, trace.steps, isolate=isolate, seeds=2)
    assert found.step in steps
    assert found.bad is not None
    assert found.bad.failed
