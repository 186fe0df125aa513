"""Where a lossy model loses what, beside the same errors by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from optimizer.precision.layers import layer_errors
from optimizer.precision.samples import Samples
from optimizer.verify import ErrorBudget
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model

CHAIN = """g (float[batch,8] x) => (float[batch,8] e) {{
    one = Constant<value: tensor = float {{1}}>()
    wrong = Constant<value: tensor = float {{{factor}}}>()
    a = Mul(x, one)
    b = Relu(a)
    c = Mul(b, wrong)
    {middle}
    e = Add({last}, one)
}}"""


def chain(factor: float = 1.0, middle: str = "d = Neg(c)", last: str = "d") -> bytes:
    return model(CHAIN.format(factor=factor, middle=middle, last=last))


def test_the_first_value_beyond_the_budget_is_where_the_error_starts(isolate: WorkerPool) -> None:
    found = layer_errors(
        chain(), chain(1.02), Samples(count=2), isolate=isolate, budget=ErrorBudget(40, "dB")
    )
    assert [value.name for value in found.values] == ["a", "b", "c", "d", "e"]
    assert [value.same_bits for value in found.values] == [True, True, False, False, False]
    assert found.first is not None
    assert found.first.name == "c"
    assert found.first.sqnr_db == pytest.approx(-20 * np.log10(0.02), abs=1e-3)
    assert found.first.scaled == pytest.approx(0.02, rel=1e-3)
    assert str(found) == (
        "The first value beyond 40 dB is 'c': 34.0 dB, 2 % of the scale;"
        " 5 values on 2 generated inputs."
    )


def test_nothing_is_beyond_a_budget_that_holds(isolate: WorkerPool) -> None:
    loose = ErrorBudget(5, "%")
    found = layer_errors(chain(), chain(1.02), Samples(count=1), isolate=isolate, budget=loose)
    assert found.first is None
    assert str(found) == "No value is beyond 5 %, of 5 values on 1 generated input."


@pytest.mark.parametrize("memory_bytes", [1, 1 << 20])
def test_values_are_measured_on_the_user_s_samples_however_little_memory_there_is(
    memory_bytes: int, tmp_path: Path, isolate: WorkerPool
) -> None:
    x = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    found = layer_errors(
        chain(), chain(1.1), Samples(tmp_path), isolate=isolate, memory_bytes=memory_bytes
    )
    expected = -np.maximum(x, 0) + np.float32(1)
    actual = -np.maximum(x, 0) * np.float32(1.1) + np.float32(1)
    noise = np.square(expected - actual, dtype=np.float64).sum()
    last = found.values[-1]
    assert last.sqnr_db == pytest.approx(10 * np.log10(np.square(expected).sum() / noise), abs=1e-3)
    assert (found.samples, found.generated) == (1, False)


def test_values_that_are_gone_or_have_another_shape_are_named_and_others_compared(
    isolate: WorkerPool,
) -> None:
    other = chain(1.0, "d0 = Neg(c) d = Transpose(d0) t = Transpose(d)", "t")
    found = layer_errors(chain(), other, Samples(count=1), isolate=isolate)
    assert found.unmatched == ("d",)
    assert [value.name for value in found.values] == ["a", "b", "c", "e"]
    renamed = chain(1.0, "other = Neg(c)", "other")
    found = layer_errors(
        chain(), renamed, Samples(count=1), isolate=isolate, matches={"d": "other"}
    )
    assert found.unmatched == ()


def test_a_value_in_16_bits_is_compared_with_the_one_in_32(isolate: WorkerPool) -> None:
    half = model("""g (float16[batch,8] x) => (float16[batch,8] y) { a = Mul(x, x) y = Relu(a) }""")
    full = model("""g (float[batch,8] x) => (float[batch,8] y) { a = Mul(x, x) y = Relu(a) }""")
    found = layer_errors(full, half, Samples(count=1), isolate=isolate)
    assert found.first is None
    assert 50 < found.values[0].sqnr_db < 90
