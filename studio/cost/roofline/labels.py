"""Where the names of a roofline's lines fit: clear of other lines, of names and of dots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top; in pixels from the lower left corner of the plot."""

_WIDTHS = (840.0, 1180.0)
"""Of the plot, in pixels, on a narrow and on a wide page: a name has to fit on both."""

_HEIGHT = 375.0
_LETTER, _LINE = 5.9, 16.0
"""How wide a letter and how high a line of the labels' font is, in pixels."""

_GAP = 3.0
_PLACES = 17
"""How many places along a line are tried."""

_OUTSIDE, _ON_NAME, _ON_LINE, _ON_DOT, _FAR = 1000.0, 8.0, 30.0, 1.0, 40.0
"""What it costs: a pixel outside, one on another name, on a line, on a dot; the length of a line
between a name and the end where it is looked for first."""


@dataclass(frozen=True, slots=True)
class LogPlane:
    """What of the plane is shown, as exponents of ten."""

    left: float
    right: float
    bottom: float
    top: float


@dataclass(frozen=True, slots=True)
class RoofLine:
    """A line that has a name; its ends are exponents of ten."""

    text: str
    start: Point
    end: Point

    @property
    def flat(self) -> bool:
        """Whether it is the rate of a class, and no level of memory."""
        return self.start[1] == self.end[1]


@dataclass(frozen=True, slots=True)
class Dot:
    """A mark that should stay visible; its centre is a pair of exponents of ten."""

    center: Point
    radius_px: float


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a name stands, in Plotly's words."""

    place: Point
    xanchor: Literal["left", "right"]
    yanchor: Literal["bottom", "top"]


def spots(lines: Sequence[RoofLine], dots: Iterable[Dot], window: LogPlane) -> list[Spot]:
    """For each line the place of its name: near its left end if it is a slope, else the right one.

    Args:
        lines: those whose names matter most first.
        dots: to be kept free.
        window: of the plot.
    """
    marks = list(dots)
    plots = [_Plot(width, window, lines, marks) for width in _WIDTHS]
    found: list[Spot] = []
    for line in lines:
        named = list(zip(lines, found, strict=False))
        options = [
            (_FAR * far + sum(plot.cost(line, spot, named) for plot in plots), spot)
            for far, spot in _options(line)
        ]
        found.append(min(options, key=lambda option: option[0])[1])
    return found


@dataclass(frozen=True)
class _Plot:
    """The plane at one width."""

    width: float
    window: LogPlane
    lines: Sequence[RoofLine]
    dots: Sequence[Dot]

    def cost(self, line: RoofLine, spot: Spot, named: Sequence[tuple[RoofLine, Spot]]) -> float:
        """What a spot for a line's name would hide, weighted."""
        box = self._box(line.text, spot)
        over = (-box[0], -box[1], box[2] - self.width, box[3] - _HEIGHT - _LINE)
        return (
            _OUTSIDE * sum(max(0.0, each) for each in over)
            + _ON_NAME * sum(_common(box, self._box(one.text, place)) for one, place in named)
            + _ON_LINE * sum(self._inside(box, one) for one in self.lines if one is not line)
            + _ON_DOT * sum(_common(box, square) for square in self._squares)
        )

    @cached_property
    def _squares(self) -> list[Box]:
        """The dots."""
        centers = ((*self._pixels(dot.center), dot.radius_px) for dot in self.dots)
        return [(x - r, y - r, x + r, y + r) for x, y, r in centers]

    def _pixels(self, place: Point) -> Point:
        window = self.window
        across = (place[0] - window.left) / (window.right - window.left)
        up = (place[1] - window.bottom) / (window.top - window.bottom)
        return across * self.width, up * _HEIGHT

    def _box(self, text: str, spot: Spot) -> Box:
        x, y = self._pixels(spot.place)
        left = x if spot.xanchor == "left" else x - _LETTER * len(text)
        bottom = y + _GAP if spot.yanchor == "bottom" else y - _GAP - _LINE
        return left, bottom, left + _LETTER * len(text), bottom + _LINE

    def _inside(self, box: Box, line: RoofLine) -> float:
        """Pixels of a line within a box, counted across."""
        (x0, y0), (x1, y1) = self._pixels(line.start), self._pixels(line.end)
        left, right = max(box[0], x0), min(box[2], x1)
        rise = (y1 - y0) / (x1 - x0) if x1 > x0 else 0.0
        if rise:
            left = max(left, x0 + (box[1] - y0) / rise)
            right = min(right, x0 + (box[3] - y0) / rise)
        elif not box[1] <= y0 <= box[3]:
            return 0.0
        return max(0.0, right - left)


def _options(line: RoofLine) -> Iterator[tuple[float, Spot]]:
    """Spots that do not cross the line itself, each with how far along it that is."""
    (x0, y0), (x1, y1) = line.start, line.end
    for number in range(_PLACES):
        far = number / (_PLACES - 1)
        part = 1 - far if line.flat else far
        place = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
        yield far, Spot(place, "right", "bottom")
        yield far, Spot(place, "left", "top")
        if line.flat:
            yield far, Spot(place, "left", "bottom")
            yield far, Spot(place, "right", "top")


def _common(one: Box, other: Box) -> float:
    """Square pixels that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0
