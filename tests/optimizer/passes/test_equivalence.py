"""Optimized graphs compute what the source computes, on ONNX Runtime without its own passes.

`exact` passes are held to the bit, the others to 1e-4 of the largest number.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx
import pytest
from hypothesis import HealthCheck, given, reject, settings

from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, passes
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from tests.optimizer.graphs import opened, proto_of
from tests.optimizer.passes import golden
from tests.optimizer.random_blocks import ALL_PATTERNS, SMOOTH_PATTERNS
from tests.optimizer.random_graphs import models, seeded
from tests.optimizer.running import Feeds, differences, feeds_for, run

CASES = golden.cases()
SIZES = {"N": 2, "S": 3}
ALONE = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
TOGETHER = settings(ALONE, max_examples=100)


class Unrunnable(Exception):
    """The source does not run."""


@dataclass(frozen=True, slots=True)
class Optimized:
    """A model before and after, as files, and what lies between."""

    before: onnx.ModelProto
    after: onnx.ModelProto
    trace: Trace


def optimized(proto: onnx.ModelProto, pipeline: Pipeline) -> Optimized:
    model = opened(proto)
    before = proto_of(model.ir)
    trace = optimize(model, pipeline)
    return Optimized(before, proto_of(model.ir), trace)


def assert_equivalent(done: Optimized, feeds: Feeds, *, exact: bool) -> None:
    """Compare by running.

    Raises:
        Unrunnable: ONNX Runtime cannot run the source, which is then no evidence.
    """
    try:
        expected = run(done.before, feeds)
    except Exception as error:
        raise Unrunnable(str(error)) from error
    story = [f"{r.step} {r.pass_id} {r.rule} {r.matched}" for r in done.trace.rewrites]
    try:
        found = differences(expected, run(done.after, feeds), exact=exact)
    except Exception as error:
        found = [f"the optimized graph does not run: {error}"]
    assert not found, "\n".join([*found, *story, onnx.printer.to_text(done.before)])


def is_exact(pipeline: Pipeline) -> bool:
    return all(p.exactness == "exact" for p in pipeline.passes)


def check(proto: onnx.ModelProto, pipeline: Pipeline) -> None:
    """What holds for any pipeline on any graph."""
    done = optimized(proto, pipeline)
    if not done.trace.rewrites:
        assert done.after.SerializeToString() == done.before.SerializeToString()
        return
    onnx.checker.check_model(done.after)
    try:
        assert_equivalent(done, feeds_for(proto, sizes=SIZES), exact=is_exact(pipeline))
    except Unrunnable:
        reject()
    again = optimized(done.after, pipeline)
    assert [(r.pass_id, r.rule, r.root) for r in again.trace.rewrites] == []


@pytest.mark.parametrize("declared", passes(), ids=lambda p: p.id)
def test_a_pass_alone_keeps_what_random_graphs_compute(declared: type[Pass]) -> None:
    pipeline = Pipeline((declared(),))
    patterns = ALL_PATTERNS if declared.exactness == "exact" else SMOOTH_PATTERNS

    @ALONE
    @given(proto=models(patterns))
    def holds(proto: onnx.ModelProto) -> None:
        check(proto, pipeline)

    holds()


@pytest.mark.parametrize("preset", ["default", "runtime"])
def test_a_preset_keeps_what_random_graphs_compute(preset: str) -> None:
    pipeline = Pipeline.of(preset)

    @TOGETHER
    @given(proto=models(SMOOTH_PATTERNS))
    def holds(proto: onnx.ModelProto) -> None:
        check(proto, pipeline)

    holds()


def test_all_exact_passes_together_keep_every_bit_of_random_graphs() -> None:
    pipeline = Pipeline(tuple(p() for p in passes() if p.exactness == "exact"))

    @TOGETHER
    @given(proto=models(ALL_PATTERNS))
    def holds(proto: onnx.ModelProto) -> None:
        check(proto, pipeline)

    holds()


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.pass_id}/{c.path.stem}")
def test_a_golden_case_computes_the_same_afterwards(case: golden.Case) -> None:
    declared = next(p for p in passes() if p.id == case.pass_id)
    pipeline = Pipeline((declared(),))
    done = optimized(onnx.parser.parse_model(case.before), pipeline)
    if not done.trace.rewrites:
        return
    onnx.checker.check_model(done.after)
    feeds = {**feeds_for(done.before), **case.feeds(done.before)}
    try:
        assert_equivalent(done, feeds, exact=is_exact(pipeline))
    except Unrunnable as error:
        pytest.skip(str(error)[:200])


def test_every_node_pass_fires_on_some_random_graph() -> None:
    pipeline = Pipeline(tuple(p() for p in passes() if p.family == "node"))
    fired: set[str] = set()
    for seed in range(300):
        fired |= {r.pass_id for r in optimized(seeded(seed, ALL_PATTERNS), pipeline).trace.rewrites}
    assert fired == set(pipeline.ids)


def test_bytes_do_not_change_when_no_pass_is_enabled() -> None:
    for seed in range(20):
        model = opened(seeded(seed, ALL_PATTERNS))
        before = to_bytes(model.ir)
        assert optimize(model, Pipeline()).steps == 0
        assert to_bytes(model.ir) == before
