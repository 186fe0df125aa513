"""Points of a nest in their order, small enough to be drawn."""

from __future__ import annotations

from itertools import pairwise

import pytest

from optimizer.errors import StudioError
from optimizer.loops.schedule import (
    ComputeAt,
    ComputeRoot,
    Fuse,
    Parallel,
    Primitive,
    Reorder,
    Split,
    StoreRoot,
    Tail,
)
from optimizer.polyhedral.picture import polyhedral_view
from optimizer.polyhedral.report import polyhedral_text
from optimizer.polyhedral.view import PolyhedralView
from optimizer.schedules.examples import EXAMPLES, Example

SIDE = 20
"""Places along an axis: 16, and what a stencil, or half a chain of eight, needs beside them."""


def view(example: str, name: str, *more: Primitive) -> PolyhedralView:
    one = EXAMPLES[example]
    return polyhedral_view(one.algorithm, [*one.schedule(name).primitives, *more])


def cells(found: PolyhedralView, stage: int) -> list[tuple[int, int]]:
    return [cell for tick in found.ticks if tick.stage == stage for cell in tick.cells]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=lambda one: one.id)
def test_every_example_is_drawn_small(example: Example) -> None:
    for one in example.schedules:
        found = polyhedral_view(example.algorithm, one.schedule.primitives)
        assert found.broken == ()
        for stage in found.stages:
            sides = [last - first + 1 for first, last in zip(stage.first, stage.last, strict=True)]
            assert max(sides) <= SIDE, (one.name, stage)
        assert all(tick.cells for tick in found.ticks)


def test_tiles_run_one_after_another() -> None:
    found = view("tiling", "4×4 tiles")
    order = cells(found, 0)
    assert len(order) == 16 * 16
    for number in range(16):
        tile = order[16 * number : 16 * (number + 1)]
        corner = (4 * (number // 4), 4 * (number % 4))
        assert tile == [(corner[0] + i, corner[1] + j) for i in range(4) for j in range(4)]
    assert len(found.stages[0].tiles) == 16


def test_a_vector_runs_at_once() -> None:
    found = view("loop-order", "rows first, in vectors")
    assert {len(tick.cells) for tick in found.ticks} == {4}


def test_a_last_tile_that_is_not_full_stays_one() -> None:
    # 32 does not divide 2046.
    found = view("blur", "tiled")
    heights = {last[0] - first[0] + 1 for first, last in found.stages[1].tiles}
    assert heights == {4, 3}


def blur_in_strips(tail: Tail) -> PolyhedralView:
    """`blur_x` in strips, of which the last is not full."""
    order = [ComputeRoot("blur_x"), Split("blur_x", "y", "yo", "yi", 500, tail)]
    return polyhedral_view(EXAMPLES["blur"].algorithm, order)


def test_a_tail_that_is_shifted_inwards_runs_points_twice_and_says_so() -> None:
    guarded, shifted = blur_in_strips("guard_with_if"), blur_in_strips("shift_inwards")
    height = guarded.stages[0].last[0] + 1
    assert height % 4, "the last strip is not full"
    rows = [row for row, column in cells(shifted, 0) if column == 0]
    assert rows == [*range(height - height % 4), *range(height - 4, height)]
    assert set(cells(shifted, 0)) == set(cells(guarded, 0))
    assert guarded.tails == ()
    assert shifted.tails == (
        "the last round of yo of blur_x begins early enough to be full, so that some points run "
        "twice",
    )


def test_a_tail_that_is_rounded_up_runs_points_that_nobody_needs() -> None:
    guarded, rounded = blur_in_strips("guard_with_if"), blur_in_strips("round_up")
    beyond = set(cells(rounded, 0)) - set(cells(guarded, 0))
    assert set(rounded.stages[0].beyond) == beyond
    assert min(row for row, _ in beyond) == guarded.stages[0].last[0] + 1
    assert "goes on past the end" in rounded.tails[0]
    assert guarded.stages[0].beyond == ()


def test_fused_loops_run_through_both() -> None:
    found = polyhedral_view(
        EXAMPLES["blur"].algorithm,
        [Fuse("blur_y", "y", "x", "f"), Split("blur_y", "f", "o", "i", 64)],
    )
    order = cells(found, 0)
    assert order == sorted(order)
    assert len(order) == len(set(order))


def test_overlapped_tiles_compute_their_edges_again_and_a_window_nothing() -> None:
    tiled, window = view("blur", "tiled"), view("blur", "sliding window")
    again = len(cells(tiled, 0)) - len(set(cells(tiled, 0)))
    assert again == 3 * 2 * 16
    assert len(cells(window, 0)) == len(set(cells(window, 0)))


def test_arrows_of_a_sum_lead_from_each_part_to_the_next() -> None:
    found = view("conv-nchw", "naive")
    assert found.stages[0].name == "conv'"
    own = [arrow.cells for arrow in found.arrows if arrow.stages == (0, 0)]
    order = [(ky, kx) for ky in range(3) for kx in range(3)]
    assert own == list(pairwise(order))


def test_a_reader_of_three_rows_has_three_arrows() -> None:
    found = view("blur", "breadth-first")
    into = [one.cells[0] for one in found.arrows if one.cells[1] == (4, 5) and one.stages[1] == 1]
    assert into == [(4, 5), (5, 5), (6, 5)]


def test_other_axes_are_drawn_where_they_are_asked_for() -> None:
    one = EXAMPLES["matmul"]
    found = polyhedral_view(one.algorithm, [], {"product'": ("i", "k")})
    assert found.stages[0].axes == ("i", "k")
    assert found.stages[0].held == "j = 0"
    with pytest.raises(StudioError, match="product' has no axis z; there are i, j, k"):
        polyhedral_view(one.algorithm, [], {"product'": ("z", "k")})


def test_what_an_order_breaks_is_said_of_the_whole_nest() -> None:
    window = StoreRoot("blur_x"), ComputeAt("blur_x", "blur_y", "y"), Parallel("blur_y", "y")
    found = polyhedral_view(EXAMPLES["blur"].algorithm, window)
    assert "parallel rounds of y carry a dependence (1) of blur_x" in found.broken[0]


def test_primitives_that_name_what_is_gone_are_left_out_and_told() -> None:
    found = polyhedral_view(
        EXAMPLES["blur"].algorithm, [Parallel("blur_y", "z"), Reorder("blur_y", ("x", "y"))]
    )
    (left_out,) = found.refused
    assert "no loop z" in left_out
    assert cells(found, 0)[:2] == [(0, 0), (1, 0)]


def test_the_text_has_domains_dependences_order_and_a_table_of_it() -> None:
    one = EXAMPLES["conv-nchw"]
    text = polyhedral_text(one.algorithm, [Reorder("conv", ("kx", "ky"), nest=1)])
    assert "reads { conv'[n, o, y, x, c, ky, kx] -> data[0, c, y + ky, x + kx] }" in text
    assert "conv goes on in conv: {" in text
    assert "Illegal: it reverses the dependence (0, 1, −1) of conv along (c, ky, kx)" in text
    assert "conv': ky down, kx across, o = 0, y = 0, x = 0, c = 0" in text
    assert "y 12 of 56" in text
