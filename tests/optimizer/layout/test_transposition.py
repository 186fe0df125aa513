"""A transposition over as few axes as it needs moves the same elements to the same places."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.dimension import symbol
from optimizer.layout.transposition import Transposition
from optimizer.operators.call import in_numbers


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


@st.composite
def shapes_of_the_same_elements(draw: st.DrawFn) -> list[list[int]]:
    """Two, both joined from the same parts."""
    parts = draw(st.lists(st.sampled_from((1, 2, 3)), min_size=1, max_size=5))
    cuts = [draw(st.sets(st.integers(1, len(parts)), max_size=3)) for _ in range(2)]
    ends = [sorted({0, *cut, len(parts)}) for cut in cuts]
    return [[prod(parts[a:b]) for a, b in pairwise(end)] for end in ends]


@given(shapes_of_the_same_elements(), st.data())
def test_two_around_a_reshape_move_every_element_as_the_one_in_their_place_does(
    shapes: list[list[int]], data: st.DataObject
) -> None:
    result, taken = map(tuple, shapes)
    perms = [tuple(data.draw(st.permutations(range(len(shape))))) for shape in shapes]
    source = tuple(result[perms[0].index(axis)] for axis in range(len(result)))
    before, after = Transposition(source, perms[0]), Transposition(taken, perms[1])
    both = before.then(after)
    assert before.result == result
    assert both is not None
    elements = np.arange(prod(source))
    assert np.array_equal(moved(both, elements), moved(after, moved(before, elements)))


@given(transpositions())
def test_loops_read_and_write_what_the_transposition_moves(written: Transposition) -> None:
    read, filled = [0], [0]
    for loop in written.loops:
        size, stride, step = in_numbers((loop.size, loop.read, loop.written)) or (0, 0, 0)
        read = [first + turn * stride for first in read for turn in range(size)]
        filled = [first + turn * step for first in filled for turn in range(size)]
    assert read == moved(written, np.arange(prod(numbers(written)))).tolist()
    assert filled == list(range(prod(numbers(written))))


def test_a_reshape_that_cuts_across_axes_has_nothing_in_common_with_a_movement() -> None:
    assert Transposition((9, 4), (1, 0)).then(Transposition((6, 6), (1, 0))) is None
