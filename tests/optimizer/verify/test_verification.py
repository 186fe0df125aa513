from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import Cancelled
from optimizer.limits import JobLimits
from optimizer.verify import Feed, verify
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import DIVISION, model, scaled


def test_a_model_equals_itself_bit_by_bit(isolate: WorkerPool) -> None:
    found = verify(scaled(3), scaled(3), isolate=isolate)
    assert (found.verdict, found.same_bits, found.informative, found.seeds) == (
        "equal", True, True, 3,
    )  # fmt: skip


def test_files_are_compared_like_bytes(isolate: WorkerPool, tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(scaled(2))
    assert verify(tmp_path / "a.onnx", scaled(2), isolate=isolate).verdict == "equal"


def test_other_numbers_differ_and_the_error_is_measured_against_the_output_scale(
    isolate: WorkerPool,
) -> None:
    found = verify(scaled(100), scaled(101), isolate=isolate)
    assert found.verdict == "differs"
    assert "'y'" in found.reason
    assert found.scaled == pytest.approx(0.01, rel=1e-4)  # of float32 differences
    assert found.outputs[0].max_rel == pytest.approx(0.01, rel=1e-5)
    assert found.max_abs == pytest.approx(found.outputs[0].scale * 0.01, rel=1e-3)


def test_rounding_is_equal_unless_the_same_bits_are_demanded(isolate: WorkerPool) -> None:
    nearly = scaled(1.000001)
    assert verify(scaled(1), nearly, isolate=isolate).verdict == "equal"
    found = verify(scaled(1), nearly, isolate=isolate, exact=True)
    assert found.verdict == "differs"
    assert "same bits" in found.reason


def test_both_sizes_of_a_free_dimension_are_tried(isolate: WorkerPool) -> None:
    fixed = model(
        """g (float[batch,4] x) => (float[batch,4] y) {
            s = Constant<value: tensor = int64[2] {2, 4}>()
            y = Reshape(x, s)
        }"""
    )
    free = model("g (float[batch,4] x) => (float[batch,4] y) { y = Identity(x) }")
    assert verify(free, fixed, isolate=isolate).verdict == "differs"


def test_a_missing_output_is_a_difference(isolate: WorkerPool) -> None:
    two = model("g (float[4] x) => (float[4] y, float[4] z) { y = Relu(x) z = Neg(x) }")
    one = model("g (float[4] x) => (float[4] y) { y = Relu(x) }")
    found = verify(two, one, isolate=isolate)
    assert found.interface == ("output 'z' is missing",)
    assert found.verdict == "differs"
    assert found.outputs[0].same_bits


def test_outputs_in_another_order_are_a_difference(isolate: WorkerPool) -> None:
    ab = model("g (float[4] x) => (float[4] a, float[4] b) { a = Relu(x) b = Neg(x) }")
    ba = model("g (float[4] x) => (float[4] b, float[4] a) { a = Relu(x) b = Neg(x) }")
    assert verify(ab, ba, isolate=isolate).interface == ("the outputs are in another order",)


def test_a_dropped_unused_input_is_a_difference_but_outputs_are_still_compared(
    isolate: WorkerPool,
) -> None:
    two = model("g (float[4] x, float[4] unused) => (float[4] y) { y = Relu(x) }")
    one = model("g (float[4] x) => (float[4] y) { y = Relu(x) }")
    found = verify(two, one, isolate=isolate)
    assert found.interface == ("input 'unused' is missing",)
    assert found.same_bits


def test_another_output_type_is_a_difference(isolate: WorkerPool) -> None:
    wide = model("g (float[4] x) => (double[4] y) { y = Cast<to: int = 11>(x) }")
    half = model("g (float[4] x) => (float16[4] y) { y = Cast<to: int = 10>(x) }")
    found = verify(wide, half, isolate=isolate)
    assert found.interface == ("output 'y' has type tensor(float16) instead of tensor(double)",)


def test_nans_in_other_places_are_a_difference(isolate: WorkerPool) -> None:
    root = model("g (float[64] x) => (float[64] y) { y = Sqrt(x) }")
    none = model("g (float[64] x) => (float[64] y) { a = Abs(x) y = Sqrt(a) }")
    assert verify(root, root, isolate=isolate).verdict == "equal"
    assert "NaNs" in verify(root, none, isolate=isolate).reason


def test_a_model_that_the_runtime_refuses_is_not_run_and_says_why(isolate: WorkerPool) -> None:
    broken = model("g (float[2] x, float[3] z) => (float[2] y) { y = MatMul(x, z) }")
    found = verify(broken, broken, isolate=isolate)
    assert found.verdict == "not_run"
    assert "first model" in found.reason


def test_a_candidate_that_the_runtime_refuses_is_a_difference(isolate: WorkerPool) -> None:
    broken = model(
        """g (float[batch,4] x) => (float[batch,4] y) {
            s = Constant<value: tensor = int64[1] {7}>()
            y = Reshape(x, s)
        }"""
    )
    found = verify(scaled(1), broken, isolate=isolate)
    assert found.verdict == "differs"
    assert "second model does not run" in found.reason


def test_a_reference_that_crashes_is_not_run(isolate: WorkerPool) -> None:
    found = verify(model(DIVISION), model(DIVISION), isolate=isolate)
    assert found.verdict == "not_run"
    assert "SIGFPE" in found.reason


def test_a_candidate_that_crashes_is_a_difference(isolate: WorkerPool) -> None:
    fine = model("g (int32[1] x) => (int32[1] y) { y = Identity(x) }")
    found = verify(fine, model(DIVISION), isolate=isolate)
    assert found.verdict == "differs"
    assert "SIGFPE" in found.reason


def test_a_check_that_takes_too_long_is_not_run(isolate: WorkerPool) -> None:
    loop = model(
        """g (float[1] x) => (float[1] y) {
            n = Constant<value: tensor = int64 {9000000000000}>()
            t = Constant<value: tensor = bool {1}>()
            y = Loop<body = b (int64 i, bool c, float[1] a) => (bool d, float[1] e) {
                d = Identity(c) e = Neg(a)
            }>(n, t, x)
        }"""
    )
    found = verify(loop, loop, isolate=isolate, limits=JobLimits(seconds=1))
    assert found.verdict == "not_run"
    assert "1 s (the limit)" in found.reason


def test_outputs_of_random_operators_are_held_to_shape_and_type_only(isolate: WorkerPool) -> None:
    noise = model(
        "g (float[64] x) => (float[64] y, float[64] z)"
        "{ n = RandomNormalLike(x) y = Add(x, n) z = Neg(x) }"
    )
    found = verify(noise, noise, isolate=isolate, exact=True)
    assert found.verdict == "equal"
    assert [output.random for output in found.outputs] == [True, False]


def test_two_draws_merged_into_one_are_noticed(isolate: WorkerPool) -> None:
    two = model(
        "g (float[64] x) => (float[64] y)"
        "{ a = RandomNormalLike(x) b = RandomNormalLike(x) y = Sub(a, b) }"
    )
    one = model("g (float[64] x) => (float[64] y) { a = RandomNormalLike(x) y = Sub(a, a) }")
    found = verify(two, one, isolate=isolate)
    assert found.verdict == "differs"
    assert "at random" in found.reason


def test_agreeing_on_a_constant_is_not_informative(isolate: WorkerPool) -> None:
    zero = model("g (float[4] x) => (float[4] y) { y = Sub(x, x) }")
    found = verify(zero, zero, isolate=isolate)
    assert (found.verdict, found.informative) == ("equal", False)


def test_whole_numbers_must_be_the_same(isolate: WorkerPool) -> None:
    first = model("g (float[8,8] x) => (int64[8,1] y) { y = ArgMax<axis: int = 1>(x) }")
    last = model("g (float[8,8] x) => (int64[8,1] y) { y = ArgMin<axis: int = 1>(x) }")
    assert "whole numbers" in verify(first, last, isolate=isolate).reason


def test_feeds_can_be_given(isolate: WorkerPool) -> None:
    table = model(
        """g (int64[3] i) => (float[3] y) <float[5] w = {1, 2, 3, 4, 5}> { y = Gather(w, i) }"""
    )
    fits = Feed("i", "int64", (3,), "integers", 0, 5)
    exceeds = Feed("i", "int64", (3,), "integers", 5, 9)
    assert verify(table, table, isolate=isolate, feeds=[fits]).verdict == "equal"
    assert verify(table, table, isolate=isolate, feeds=[exceeds]).verdict == "not_run"


def test_bound_dimensions_have_the_size_that_was_given(isolate: WorkerPool) -> None:
    found = verify(scaled(1), scaled(1), isolate=isolate, bindings={"batch": 7})
    assert found.feeds[0].shape == (7, 4)


def test_cancelling_is_not_swallowed(isolate: WorkerPool) -> None:
    with pytest.raises(Cancelled):
        verify(scaled(1), scaled(1), isolate=isolate, cancelled=lambda: True)


def test_sequences_are_not_run_with_the_reason(isolate: WorkerPool) -> None:
    text = "g (seq(float[4]) s, int64 i) => (float[4] y) { y = SequenceAt(s, i) }"
    found = verify(model(text), model(text), isolate=isolate)
    assert found.verdict == "not_run"
    assert "seq(tensor(float))" in found.reason


def test_bfloat16_inputs_and_outputs_are_compared(isolate: WorkerPool) -> None:
    same = model("g (bfloat16[8] x) => (bfloat16[8] y) { y = Identity(x) }")
    found = verify(same, same, isolate=isolate)
    assert (found.verdict, found.same_bits, found.informative) == ("equal", True, True)


def test_text_is_compared(isolate: WorkerPool) -> None:
    same = model("g (string[8] x) => (string[8] y) { y = Identity(x) }")
    assert verify(same, same, isolate=isolate).same_bits
