from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.errors import StudioError
from optimizer.precision.float_formats import (
    FORMATS,
    FloatFormat,
    Losses,
    format_named,
    losses,
    magnitude,
)

HALF, BFLOAT = FORMATS["float16"], FORMATS["bfloat16"]


def test_the_two_formats_are_those_of_the_standard() -> None:
    assert (HALF.largest, HALF.smallest_normal, HALF.smallest) == (65504.0, 2.0**-14, 2.0**-24)
    assert (HALF.digits, BFLOAT.digits) == (11, 8)
    assert np.isclose(BFLOAT.largest, 3.3895314e38)


@pytest.mark.parametrize("form", [HALF, BFLOAT])
def test_overflow_begins_where_rounding_gives_infinity(form: FloatFormat) -> None:
    edge = np.float32(form.overflow)
    both = form.rounded(np.array([edge, np.nextafter(edge, np.float32(0))]))
    assert np.isfinite(both.astype(np.float32)).tolist() == [False, True]


def test_what_is_lost_is_counted_by_kind() -> None:
    numbers = np.array([1.0, 0.0, -70000.0, 1e-5, 6e-8, 1e-9, np.inf, 65519.0], np.float32)
    assert losses(numbers, HALF) == Losses(8, overflow=1, subnormal=2, vanished=1)
    assert str(losses(numbers, HALF)) == (
        "of 8 numbers 1 beyond the range, 2 subnormal, 1 too small, which become 0"
    )
    assert losses(numbers, BFLOAT) == Losses(8)


def test_the_magnitude_of_a_constant_leaves_out_what_is_infinite() -> None:
    assert magnitude(ir.Tensor(np.array([-np.inf, 3.0, -5.0], np.float32))) == 5.0
    assert magnitude(ir.Tensor(np.zeros(0, np.float32))) == 0.0


def test_a_format_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(StudioError, match="no 16-bit format 'half'; there are float16 and bfloat"):
        format_named("half")
