"""A transposition over as few axes as it needs moves the same elements to the same places."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.dimension import symbol
from optimizer.layout.transposition import Transposition
from optimizer.operators.call import in_numbers

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def transpositions(draw: st.DrawFn) -> Transposition:
    shape = draw(st.lists(st.sampled_from((1, 1, 2, 3)), max_size=6))
    return Transposition(tuple(shape), tuple(draw(st.permutations(range(len(shape))))))


def moved(one: Transposition, data: np.ndarray) -> np.ndarray:
    return data.reshape(numbers(one)).transpose(one.perm).reshape(-1)


def numbers(one: Transposition) -> tuple[int, ...]:
    sizes = in_numbers(one.shape)
    assert sizes is not None
    return sizes


@UNHURRIED
@given(transpositions())
def test_the_reduced_one_moves_every_element_to_where_the_written_one_does(
    written: Transposition,
) -> None:
    reduced = written.reduced()
    data = np.arange(prod(numbers(written)))
    assert np.array_equal(moved(reduced, data), moved(written, data))
    assert reduced.reduced() == reduced
    assert reduced.moves == written.moves == (len(reduced.perm) > 1)
    assert 1 not in reduced.shape


@UNHURRIED
@given(transpositions())
def test_no_two_axes_of_the_reduced_one_could_be_one(written: Transposition) -> None:
    perm = written.reduced().perm
    assert all(after != before + 1 for before, after in pairwise(perm))


@pytest.mark.parametrize(
    ("shape", "perm", "axes", "moves", "block"),
    [
        ((1, 197, 6, 64), (0, 2, 1, 3), (197, 6, 64), (1, 0, 2), 64),
        ((1, 96, 56, 56), (0, 2, 3, 1), (96, 3136), (1, 0), 1),
        ((1, 8, 7, 8, 7, 96), (0, 1, 3, 2, 4, 5), (8, 7, 8, 672), (0, 2, 1, 3), 672),
        ((2, 8, 8, 8, 16, 32), (3, 4, 5, 0, 1, 2), (128, 4096), (1, 0), 1),
        ((1024, 3072), (1, 0), (1024, 3072), (1, 0), 1),
    ],
)
def test_transposes_of_known_networks_become_what_a_person_finds(
    shape: tuple[int, ...],
    perm: tuple[int, ...],
    axes: tuple[int, ...],
    moves: tuple[int, ...],
    block: int,
) -> None:
    reduced = Transposition(shape, perm).reduced()
    assert (reduced.shape, reduced.perm, reduced.block) == (axes, moves, block)


def test_sizes_that_are_not_known_are_multiplied_as_they_are() -> None:
    batch, length = symbol("batch"), symbol("length")
    reduced = Transposition((batch, length, 12, 64), (2, 3, 0, 1)).reduced()
    assert reduced == Transposition((batch * length, 768), (1, 0))
