"""Meters against closed forms."""

from __future__ import annotations

import pytest

from optimizer.loops.schedule import Parallel, Schedule
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.meters import FuncMeters, Meters, meters_of
from optimizer.schedules.nest import nest_of

HEIGHT, WIDTH = 2046, 3072
ROW = WIDTH * 4
"""Bytes."""


def measured(example: str, schedule: str) -> tuple[Meters, dict[str, FuncMeters]]:
    one = EXAMPLES[example]
    found = meters_of(nest_of(one.algorithm, one.schedule(schedule).primitives))
    return found, {meters.func: meters for meters in found.funcs}


# Ragan-Kelley et al. 2013, section 3.1: rounds that could run side by side, operations until a
# value is read again, elements computed for each that is needed; and what is held at a time.
PAPER = {
    "breadth-first": (WIDTH * HEIGHT, WIDTH * 2048 * 3, 1.0, 2048 * ROW),
    "full fusion": (WIDTH * HEIGHT, 3 * 3, 3.0, 0),
    "sliding window": (WIDTH, WIDTH * (3 + 3), 1.0, 3 * ROW),
    "tiled": (WIDTH * HEIGHT, 34 * 32 * 3, 34 / 32, 34 * 32 * 4),
    "sliding in tiles": (WIDTH * HEIGHT / 8, WIDTH * (3 + 3), 10 / 8, 3 * ROW),
}


@pytest.mark.parametrize("schedule", PAPER)
def test_meters_of_the_blur_are_those_of_the_paper(schedule: str) -> None:
    independent, reuse, amplification, held = PAPER[schedule]
    whole, funcs = measured("blur", schedule)
    blur_x = funcs["blur_x"]
    assert funcs["blur_y"].independent == pytest.approx(independent, rel=0.05)
    # In strips, two of ten rows are computed alone: the paper counts a round of the steady state.
    strips = 1.25 if schedule == "sliding in tiles" else 1.0
    assert blur_x.reuse_distance == pytest.approx(reuse * (strips + 1) / 2, rel=0.05)
    assert blur_x.amplification == pytest.approx(amplification, rel=0.05)
    assert blur_x.working_set_bytes == held
    assert whole.amplification == pytest.approx((amplification + 1) / 2, rel=0.05)


def test_bytes_behind_a_cache_are_what_is_read_and_written_once_where_the_rest_fits() -> None:
    image = HEIGHT * ROW
    for schedule, images in {
        "breadth-first": 4,
        "full fusion": 2,
        "tiled": 2,
        "sliding window": 2,
    }.items():
        moved = measured("blur", schedule)[0].moved[1]
        assert moved.moved_bytes == pytest.approx(images * image, rel=0.05), schedule


def test_columns_first_moves_a_cache_line_for_each_element() -> None:
    rows, columns = (
        measured("loop-order", name)[0].moved[0] for name in ("rows first", "columns first")
    )
    assert rows.moved_bytes == 2 * 256 * 1024 * 4
    assert columns.moved_bytes == 16 * rows.moved_bytes


def test_tiles_of_a_matrix_product_move_fewer_bytes_step_by_step() -> None:
    names = ("naive", "reordered, in vectors", "register tiles")
    moved = [measured("matmul", name)[0].moved[0].moved_bytes for name in names]
    assert moved == sorted(moved, reverse=True)
    # Eight rows of the result at a time: b comes once for each eight rows.
    assert moved[-1] == pytest.approx(512 / 8 * 512 * 512 * 4, rel=0.5)


def test_lanes_and_tasks_are_those_of_the_heaviest_func() -> None:
    found, _ = measured("matmul", "register tiles")
    assert (found.tasks, found.lanes, found.independent) == (8, 16, 512 * 512)
    assert found.operations == pytest.approx(2 * 512**3, rel=0.01)


def test_a_row_computed_twice_at_its_end_is_redundant() -> None:
    assert measured("tail", "recomputing")[1]["scaled"].amplification == 1008 / 1003
    assert measured("tail", "branch")[1]["scaled"].amplification == 1


def test_rounds_run_side_by_side_only_where_they_are_said_to() -> None:
    algorithm = EXAMPLES["loop-order"].algorithm
    schedule = Schedule((Parallel("scaled", "i"),))
    before, after = (meters_of(nest_of(algorithm, one)) for one in ((), schedule.primitives))
    assert (before.tasks, after.tasks) == (1, 256)
    assert before.independent == after.independent == 256 * 1024
