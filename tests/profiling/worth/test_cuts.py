from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from profiling.worth.cuts import first_cuts, next_cuts


def test_few_boundaries_are_all_cut() -> None:
    assert first_cuts((0, 4, 9), 8) == (0, 4, 9)


@given(st.sets(st.integers(1, 400), min_size=1), st.integers(2, 12))
def test_many_boundaries_are_thinned_and_keep_their_ends(inner: set[int], most: int) -> None:
    boundaries = (0, *sorted(inner))
    cuts = first_cuts(boundaries, most)
    assert len(cuts) == min(most, len(boundaries))
    assert set(cuts) <= set(boundaries)
    assert cuts[0] == 0
    assert cuts[-1] == boundaries[-1]
    assert list(cuts) == sorted(cuts)


def test_a_strong_segment_is_cut_in_the_middle_and_both_ends_run_again() -> None:
    assert next_cuts([((10, 20), 0.5)], (0, 10, 20, 30), 5) == (0, 10, 15, 20, 30)


def test_a_segment_of_several_passes_is_cut_between_passes() -> None:
    assert next_cuts([((0, 30), 0.5)], (0, 4, 30), 3) == (0, 4, 30)


def test_free_places_cut_the_strongest_piece_again() -> None:
    segments = [((0, 16), 0.1), ((16, 32), 0.8)]
    assert next_cuts(segments, (0, 16, 32), 5) == (0, 16, 20, 24, 32)
    cuts = next_cuts(segments, (0, 16, 32), 9)
    assert sum(cut > 16 for cut in cuts) > sum(0 < cut < 16 for cut in cuts)


def test_single_steps_are_not_cut() -> None:
    assert next_cuts([((3, 4), 0.9)], (0, 9), 8) == ()
