"""Folding stops before anything too large is made."""

from __future__ import annotations

import pytest

from optimizer.limits import MIB, Limits
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.edits import AddInitializer
from optimizer.rewrite.trace import Trace
from tests.optimizer.graphs import opened

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\ng (float[N] x) => (float[N] y)'
TAIL = "s = ReduceSum<keepdims = 0>(big)\ny = Mul(x, s)"
HUGE = "int64[1] huge = {4000000000000}, float[1] one = {1}, int64 far = {4000000000000}"
BOMBS = {
    "Tile": "big = Tile(one, huge)",
    "Expand": "big = Expand(one, huge)",
    "ConstantOfShape": "big = ConstantOfShape(huge)",
    "OneHot": "big = OneHot(huge, far, two)",
}


def _folded(body: str, initializers: str, limits: Limits = Limits()) -> Trace:
    model = opened(f"{HEAD} <{initializers}> {{\n{body}\n}}")
    return optimize(model, Pipeline.of("none", enable=["fold-constants"]), limits=limits)


@pytest.mark.parametrize("operator", BOMBS)
def test_a_bomb_is_declined_with_its_size_and_the_limit(operator: str) -> None:
    trace = _folded(f"{BOMBS[operator]}\n{TAIL}", f"{HUGE}, float[2] two = {{0, 1}}")
    (declined,) = trace.declined
    assert operator in declined.reason
    assert "TiB" in declined.reason
    assert "limit 16 MiB" in declined.reason


def test_a_chain_that_doubles_is_folded_only_as_far_as_the_file_may_grow() -> None:
    doubling = "\n".join(f"v{i + 1} = Concat<axis = 0>(v{i}, v{i})" for i in range(40))
    trace = _folded(f"{doubling}\nbig = Identity(v40)\n{TAIL}", "float[2] v0 = {1, 2}")
    added = [e for r in trace.rewrites for e in r.edits if isinstance(e, AddInitializer)]
    sizes = [edit.tensor.nbytes for edit in added]
    assert 0 < sum(sizes) <= 8 * MIB


def test_all_results_together_stay_within_the_budget() -> None:
    parts = "\n".join(f"p{i} = ConstantOfShape(shape{i})\nq{i} = Add(x, p{i})" for i in range(8))
    total = "y = Sum(" + ", ".join(f"q{i}" for i in range(8)) + ")"
    shapes = ", ".join(f"int64[1] shape{i} = {{{100_000 + i}}}" for i in range(8))
    trace = _folded(f"{parts}\n{total}", shapes, Limits(fold_total_bytes=MIB))
    assert trace.steps == 2
    assert all("1 MiB, the limit" in declined.reason for declined in trace.declined)


def test_no_time_means_no_folding() -> None:
    trace = _folded("c = Neg(one)\ny = Mul(x, c)", "float one = {1}", Limits(fold_seconds=0.0))
    assert trace.steps == 0
    assert "Folding has used its 0 s" in trace.declined[0].reason
