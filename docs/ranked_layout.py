"""Where the boxes of a small graph stand: rows by longest path, few crossings, short wires."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

GAP_X, GAP_Y = 18.0, 26.0
LANE_W = 8.0
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Wire:
    """From a box to one that reads it, by their places in the list."""

    start: int
    end: int


@dataclass(slots=True)
class Placed:
    """The outcome, in pixels.

    Attributes:
        corners: left and top of each box.
        paths: SVG path data of the wires.
    """

    corners: list[tuple[float, float]]
    paths: list[str]
    width: float
    height: float


@dataclass(slots=True)
class _Item:
    """A box, or where a wire passes a row."""

    width: float
    row: int
    above: list[int] = field(default_factory=list[int])
    below: list[int] = field(default_factory=list[int])
    x: float = 0.0


def layout(sizes: Sequence[tuple[float, float]], wires: Sequence[Wire]) -> Placed:
    """Place boxes of these widths and heights; wires lead forward, as in an ordered graph."""
    rows = _rows(len(sizes), wires)
    items = [_Item(width, row) for (width, _), row in zip(sizes, rows, strict=True)]
    lanes = [_lane(items, wire) for wire in wires]
    layers: list[list[int]] = [[] for _ in range(max(rows, default=-1) + 1)]
    for place, item in enumerate(items):
        layers[item.row].append(place)
    _order(items, layers)
    _spread(items, layers)
    tops, heights = _tops(sizes, layers)
    left = min((item.x - item.width / 2 for item in items), default=0.0)
    right = max((item.x + item.width / 2 for item in items), default=0.0)
    for item in items:
        item.x = round(item.x - left, 1)
    corners = [
        (round(item.x - width / 2, 1), tops[item.row] + (heights[item.row] - height) / 2)
        for item, (width, height) in zip(items, sizes, strict=False)
    ]
    paths = [_path(items, lane, sizes, corners, tops, heights) for lane in lanes]
    tall = tops[-1] + heights[-1] if tops else 0.0
    return Placed(corners, paths, round(right - left, 1), tall)


def _rows(count: int, wires: Sequence[Wire]) -> list[int]:
    """Longest path from the top; what reads nothing stands right above its first reader."""
    rows = [0] * count
    for _ in range(count):
        moved = False
        for wire in wires:
            if rows[wire.end] <= rows[wire.start]:
                rows[wire.end], moved = rows[wire.start] + 1, True
        if not moved:
            break
    fed = {wire.end for wire in wires}
    for place in range(count):
        readers = [rows[wire.end] for wire in wires if wire.start == place]
        if place not in fed and readers:
            rows[place] = min(readers) - 1
    return rows


def _lane(items: list[_Item], wire: Wire) -> list[int]:
    """The items that a wire goes through, both its boxes included."""
    lane = [wire.start]
    for row in range(items[wire.start].row + 1, items[wire.end].row):
        items.append(_Item(LANE_W, row))
        lane.append(len(items) - 1)
    lane.append(wire.end)
    for upper, lower in itertools.pairwise(lane):
        items[upper].below.append(lower)
        items[lower].above.append(upper)
    return lane


def _order(items: list[_Item], layers: list[list[int]]) -> None:
    place = {item: index for layer in layers for index, item in enumerate(layer)}
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            middles = {
                item: _mean(
                    [place[n] for n in _near(items[item], downwards=downwards)], place[item]
                )
                for item in layer
            }
            layer.sort(key=lambda item: (middles[item], place[item]))
            place.update({item: index for index, item in enumerate(layer)})


def _spread(items: list[_Item], layers: list[list[int]]) -> None:
    """Boxes as near to the middle of their neighbours as those beside them leave room."""
    for layer in layers:
        _keep_apart(items, layer)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            for item in layer:
                near = [items[n].x for n in _near(items[item], downwards=downwards)]
                items[item].x = _mean(near, items[item].x)
            _keep_apart(items, layer)


def _keep_apart(items: list[_Item], layer: list[int]) -> None:
    """Push overlapping neighbours apart, to both sides alike."""
    wanted = [items[item].x for item in layer]
    for left, right in itertools.pairwise(layer):
        least = items[left].x + (items[left].width + items[right].width) / 2 + GAP_X
        items[right].x = max(items[right].x, least)
    shift = _mean([items[item].x for item in layer], 0.0) - _mean(wanted, 0.0)
    for item in layer:
        items[item].x -= shift


def _near(item: _Item, *, downwards: bool) -> list[int]:
    return item.above if downwards else item.below


def _mean(numbers: Sequence[float], otherwise: float) -> float:
    return sum(numbers) / len(numbers) if numbers else otherwise


def _tops(
    sizes: Sequence[tuple[float, float]], layers: list[list[int]]
) -> tuple[list[float], list[float]]:
    heights = [
        max((sizes[item][1] for item in layer if item < len(sizes)), default=0.0)
        for layer in layers
    ]
    tops: list[float] = []
    top = 0.0
    for height in heights:
        tops.append(top)
        top += height + GAP_Y
    return tops, heights


def _path(
    items: list[_Item],
    lane: list[int],
    sizes: Sequence[tuple[float, float]],
    corners: list[tuple[float, float]],
    tops: list[float],
    heights: list[float],
) -> str:
    start, end = lane[0], lane[-1]
    x, y = items[start].x, corners[start][1] + sizes[start][1]
    path = f"M{x:g} {y:g}"
    for item in lane[1:]:
        to_x = items[item].x
        to_y = corners[item][1] if item == end else tops[items[item].row]
        middle = (y + to_y) / 2
        path += f"C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y:g}"
        if item != end:
            to_y += heights[items[item].row]
            path += f"V{to_y:g}"
        x, y = to_x, to_y
    return path
