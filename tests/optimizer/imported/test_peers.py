"""Other projects' optimizers on models they are known to break; only where they are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model.loader import load_path
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import find
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.source import complete
from optimizer.verify import verify
from profiling.workers import default_pool

NASTY = Path(__file__).parents[2] / "nasty"
ALWAYS = "always the same value, where the reference draws at random"
BROKEN = [
    ("simplify-by-onnxsim", "dup_random", ALWAYS),
    ("slim-by-onnxslim", "dup_random", ALWAYS),
    ("optimize-by-onnxoptimizer", "dup_random", ALWAYS),
    ("slim-by-onnxslim", "conv_mul_add_fold", "output 'y': off by"),
    ("simplify-by-onnxsim", "initializer_is_input", "input 'w' is missing"),
    ("slim-by-onnxslim", "initializer_is_input", "input 'w' is missing"),
]
RIGHT = [
    ("simplify-by-onnxsim", "conv_mul_add_fold"),
    ("slim-by-onnxslim", "ir3_initializers_as_inputs"),
    ("optimize-by-onnxoptimizer", "initializer_is_input"),
    ("optimize-by-onnxscript", "unsorted_names_shadow"),
]
pytestmark = pytest.mark.slow


def pipeline(pass_id: str) -> Pipeline:
    declared = find(pass_id)
    assert declared is not None
    if missing := declared.missing():
        pytest.skip(missing)
    return Pipeline((declared(),))


@pytest.mark.parametrize(("pass_id", "name", "told"), BROKEN)
def test_a_tool_that_breaks_a_model_is_named_with_what_is_wrong_and_taken_back(
    pass_id: str, name: str, told: str
) -> None:
    chosen = pipeline(pass_id)
    model = complete(load_path(NASTY / f"{name}.onnx"), isolate=default_pool())
    source = to_bytes(model.ir)
    trace = optimize(model, chosen, isolate=default_pool())
    assert [told in failed.error for failed in trace.failed] == [True]
    assert to_bytes(model.ir) == source


@pytest.mark.parametrize(("pass_id", "name"), RIGHT)
def test_what_a_tool_does_right_is_taken_over_and_undone(pass_id: str, name: str) -> None:
    chosen = pipeline(pass_id)
    path = NASTY / f"{name}.onnx"
    model = complete(load_path(path), isolate=default_pool())
    source = to_bytes(model.ir)
    trace = optimize(model, chosen, isolate=default_pool())
    result = to_bytes(model.ir)
    assert trace.steps > 0
    assert trace.failed == []
    assert verify(path, result, isolate=default_pool()).verdict == "equal"
    cursor = Cursor.at_end(trace)
    assert cursor.materialize(0) == source
    assert cursor.materialize(trace.steps) == result
