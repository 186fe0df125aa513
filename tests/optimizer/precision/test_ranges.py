"""Ranges of values, and tables of them as options."""

from __future__ import annotations

import math

import pytest

from optimizer.errors import StudioError
from optimizer.precision.ranges import Range, rows_of, table_of


def test_a_table_comes_back_from_the_rows_of_an_option() -> None:
    table = {"x": Range(-1.5, 2.0), "y": Range(0.0, 0.0)}
    assert rows_of(table) == (("x", -1.5, 2.0), ("y", 0.0, 0.0))
    assert table_of(rows_of(table)) == table


@pytest.mark.parametrize(("low", "high"), [(1.0, 0.5), (-math.inf, 1.0), (0.0, math.nan)])
def test_what_is_no_range_is_refused_with_the_value_s_name(low: float, high: float) -> None:
    with pytest.raises(StudioError, match="Value 'conv1': A range from"):
        table_of([("conv1", low, high)])


def test_a_value_with_two_ranges_is_refused() -> None:
    with pytest.raises(StudioError, match="Value 'x' has two ranges"):
        table_of([("x", 0.0, 1.0), ("x", 0.0, 2.0)])


def test_the_magnitude_is_that_of_the_larger_end() -> None:
    assert Range(-3.0, 2.0).magnitude == 3.0
