from __future__ import annotations

import pytest

from benchmarks.spearman import spearman


def test_only_the_order_counts() -> None:
    assert spearman([1, 2, 3, 4], [1, 10, 11, 1000]) == pytest.approx(1)
    assert spearman([1, 2, 3, 4], [9, 3, 2, 1]) == pytest.approx(-1)


def test_equal_numbers_share_their_rank() -> None:
    assert spearman([1, 1, 2], [3, 3, 5]) == pytest.approx(1)
    assert spearman([1, 2, 2, 4], [1, 3, 2, 4]) == pytest.approx(0.9487, abs=1e-4)


def test_where_all_are_equal_there_is_no_order() -> None:
    assert spearman([1, 1], [1, 2]) == 0
