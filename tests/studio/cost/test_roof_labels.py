"""Names of a roofline's lines keep clear of each other, of lines and of dots."""

from __future__ import annotations

from studio.cost.roofline.labels import Dot, LogPlane, RoofLine, spots

WINDOW = LogPlane(-2.0, 2.0, 8.0, 14.0)


def roof(text: str, height: float, start: float = -1.0) -> RoofLine:
    return RoofLine(text, (start, height), (WINDOW.right, height))


def slope(text: str, rate: float) -> RoofLine:
    return RoofLine(text, (WINDOW.left, WINDOW.left + rate), (1.0, 1.0 + rate))


def test_a_roof_alone_has_its_name_at_its_right_end_where_it_always_fits() -> None:
    (spot,) = spots([roof("a very long name of two classes 346 TFLOP/s", 13.7, 1.9)], (), WINDOW)
    assert spot.place == (2.0, 13.7)
    assert (spot.xanchor, spot.yanchor) == ("right", "bottom")


def test_of_two_roofs_that_nearly_touch_one_has_its_name_above_and_one_below() -> None:
    upper, lower = spots([roof("matrix product", 13.0), roof("batched", 12.9)], (), WINDOW)
    assert (upper.yanchor, lower.yanchor) == ("bottom", "top")


def test_the_names_of_two_slopes_that_nearly_touch_stand_on_either_side_of_both() -> None:
    upper, lower = spots([slope("L2 10 TB/s", 12.0), slope("HBM 4.8 TB/s", 11.7)], (), WINDOW)
    assert (upper.xanchor, upper.yanchor) == ("right", "bottom")
    assert (lower.xanchor, lower.yanchor) == ("left", "top")


def test_a_name_makes_room_for_a_dot() -> None:
    line = roof("dense convolution 63 GFLOP/s", 11.0)
    (free,) = spots([line], (), WINDOW)
    (moved,) = spots([line], [Dot((1.7, 11.1), 20.0)], WINDOW)
    assert free != moved


def test_a_name_stands_on_its_own_line() -> None:
    line = slope("memory 16 GB/s", 11.0)
    (spot,) = spots([line], [Dot((-1.9, 8.9), 30.0)], WINDOW)
    assert spot.place[1] - spot.place[0] == 11.0
