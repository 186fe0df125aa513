"""Repeats in lists of labels, against what a look at every pair of places finds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from optimizer.model.repeated_text import sorted_suffixes


@given(st.lists(st.integers(0, 3), max_size=40))
def test_suffixes_are_in_order_and_share_what_they_begin_with(labels: list[int]) -> None:
    order, lengths = sorted_suffixes(labels)
    assert order == sorted(range(len(labels)), key=lambda place: labels[place:])
    assert len(lengths) == len(order)
    for number, (one, other) in enumerate(pairwise(order), 1):
        pairs = zip(labels[one:], labels[other:], strict=False)
        shared = next((n for n, (a, b) in enumerate(pairs) if a != b), None)
        assert lengths[number] == (len(labels) - max(one, other) if shared is None else shared)
