"""Integers for real numbers, against ONNX's own QuantizeLinear and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.precision.quantization import (
    Code,
    QuantizationParameters,
    affine,
    asymmetric,
    dequantized,
    least_scales,
    quantized,
    quantized_bias,
    quantized_rows,
    symmetric,
)
from optimizer.precision.ranges import Range
from tests.optimizer.graphs import parsed
from tests.optimizer.running import run

ENDS = st.floats(-(2.0**100), 2.0**100, width=32)
CODES: tuple[Code, ...] = ("uint8", "int8")


@given(st.tuples(ENDS, ENDS).map(sorted))
def test_zero_is_exact_and_the_ends_of_a_range_are_within_half_a_step(ends: list[float]) -> None:
    found = Range(*ends)
    for by in (asymmetric(found), symmetric(found)):
        assert dequantized(quantized(np.zeros(1, np.float32), by), by)[0] == 0
        if abs(found.high - found.low) > 1e-30:
            back = dequantized(quantized(np.array(ends, np.float32), by), by)
            assert np.abs(back - ends).max() <= by.scale * 0.51


def test_a_range_of_nothing_but_zero_has_a_scale() -> None:
    for code in CODES:
        by = affine(Range(0.0, 0.0), code)
        assert by.scale == 1.0
        assert dequantized(quantized(np.zeros(3, np.float32), by), by).tolist() == [0, 0, 0]


def test_the_paper_s_example_of_a_range_that_does_not_hold_zero_is_widened() -> None:
    assert asymmetric(Range(1.0, 5.1)).range.low == 0.0
    assert asymmetric(Range(-5.1, -1.0)).range.high == 0.0


def test_what_is_outside_a_range_saturates_and_halves_go_to_even() -> None:
    by = asymmetric(Range(0.0, 255 / 64))
    x = np.array([-1, 0.5 / 64, 1.5 / 64, 2.5 / 64, 255 / 64, 99], np.float32)
    assert quantized(x, by).tolist() == [0, 0, 2, 2, 255, 255]


@pytest.mark.parametrize(
    "by", [QuantizationParameters(0.03, 77, "uint8"), QuantizationParameters(0.02, 0, "int8")]
)
def test_integers_are_those_of_onnx_runtime(by: QuantizationParameters) -> None:
    kind = by.code
    model = parsed(f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[4096] x) => ({kind}[4096] q, float[4096] y)
        <float s = {{{by.scale}}}, {kind} z = {{{by.zero_point}}}>
        {{ q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }}""")
    halves = (np.arange(-200, 200) + 0.5).astype(np.float32) * np.float32(by.scale)
    x = np.concatenate([halves, np.random.default_rng(0).normal(0, 4, 3696).astype(np.float32)])
    q, y = run(model, {"x": x})
    assert np.array_equal(quantized(x, by), q)
    assert np.array_equal(dequantized(quantized(x, by), by), y)


def test_weights_do_not_saturate_and_each_row_has_the_least_error() -> None:
    weight = np.random.default_rng(0).normal(size=(6, 50)).astype(np.float32)
    weight[3] = 0
    rows, scales = quantized_rows(weight)
    assert np.abs(rows[[0, 1, 2, 4, 5]]).max(axis=1).tolist() == [127] * 5
    assert (rows.min(), scales[3]) == (-127, 1.0)
    assert (np.abs(rows * scales[:, None] - weight) <= scales[:, None] * 0.5001).all()
    assert np.abs(quantized_rows(weight, bits=7)[0]).max() == 63


def test_a_bias_larger_than_int32_holds_makes_the_scale_of_its_weights_larger() -> None:
    weight, bias = np.full((2, 3), 1e-9, np.float32), np.array([5.0, 0.0], np.float32)
    _, scales = quantized_rows(weight, floor=least_scales(bias, 0.01))
    integers = quantized_bias(bias, scales * np.float32(0.01))
    assert np.allclose(integers * scales * np.float32(0.01), bias)
    assert np.isclose(scales[1], 1e-9 / 127)


def test_a_scale_is_never_less_than_float32_tells_apart() -> None:
    assert asymmetric(Range(0.0, 1e-44)).scale == 1.0
    assert np.isfinite(symmetric(Range(-3e38, 3e38)).scale)
