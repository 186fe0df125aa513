"""Small graphs as SVG, the one before beside the one after, drawn as the viewer draws boxes.

Colours and glyphs are read from the viewer's own files. An SVG follows light and dark by itself,
alone in a file as well as inside a page; its text is escaped here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Literal

from docs.ranked_layout import GAP_Y, Placed, Wire, layout

Mark = Literal["removed", "added", "changed", "matched", ""]
Rgb = tuple[float, float, float]

CAP, NODE_H, ROW_H, PILL_H = 22, 26, 14, 20
MOST_W = 210
PAD, HEAD, ARROW_W = 12, 24, 56
FRAME_PAD, FRAME_HEAD = 7, 16
_CANVAS = Path(__file__).parents[1] / "studio" / "viewer" / "assets"
_SIGNS = {"removed": "\N{MINUS SIGN}", "added": "+", "changed": "~"}
_LIGHT, _DARK = (255.0, 255.0, 255.0), (17.0, 20.0, 27.0)
_WHITE = (255.0, 255.0, 255.0)
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_STYLE = f"""\
svg:root{{color-scheme:light dark}}
.pp-t,.pp-q,.pp-h,.pp-s{{font-family:{_FONT};font-size:12px;fill:light-dark(#1f2430,#e6e8ee)}}
.pp-t{{font-weight:600}}
.pp-q,.pp-h{{font-weight:400;font-size:11.5px;fill:light-dark(#5d6370,#a3aab8)}}
.pp-r{{font-size:10.5px}}
.pp-s{{font-weight:700;fill:light-dark(#ffffff,#11141b)}}
.pp-w{{fill:none;stroke:light-dark(#9a9fa9,#7d8390);stroke-width:1.25}}
.pp-g{{fill:none;stroke:#fff;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}}
.pp-f{{fill:light-dark(#eceef2,#232833)}}
.pp-io{{fill:none;stroke:light-dark(#a6abb5,#6d7380)}}
.pp-m{{fill:none;stroke:light-dark(#e0a100,#f2c14e);stroke-width:8;opacity:.35}}
.pp-ring{{fill:none;stroke-width:2}}
.pp-removed{{stroke:light-dark(#bd3d35,#f0766b);stroke-dasharray:5 3}}
.pp-added{{stroke:light-dark(#147a4b,#4cc38a)}}
.pp-changed{{stroke:light-dark(#8a5f00,#e0b04a)}}
.pp-d-removed{{fill:light-dark(#bd3d35,#f0766b)}}
.pp-d-added{{fill:light-dark(#147a4b,#4cc38a)}}
.pp-d-changed{{fill:light-dark(#8a5f00,#e0b04a)}}
""".splitlines(keepends=True)
"""Rules of the style, a line each; a picture has those it needs."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node, or an input, an output or a weight as a pill.

    Attributes:
        id: unique on its side.
        text: its operator or name.
        quiet: what stands behind that, paler.
        row: a second line.
        category: of the operator; empty for a pill.
        mark: what the rewrite does to it.
        body: the body that it stands in, by its name on the picture; empty for the graph itself.
    """

    id: str
    text: str
    quiet: str = ""
    row: str = ""
    category: str = ""
    mark: Mark = ""
    body: str = ""

    @property
    def height(self) -> float:
        """In pixels."""
        if not self.category:
            return PILL_H
        return NODE_H + (ROW_H if self.row else 0)

    @property
    def width(self) -> float:
        """In pixels, as wide as its text is likely to be."""
        left = CAP + 7 if self.category else 10
        first = text_width(self.text, 12 if self.category else 11.5, bold=bool(self.category))
        if self.quiet:
            first += 6 + text_width(self.quiet, 11.5)
        second = text_width(self.row, 10.5) if self.row else 0
        return ceil(min(MOST_W, max(left + 30, left + max(first, second) + 10)))


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two graphs."""

    title: str
    boxes: Sequence[Box]
    edges: Sequence[tuple[str, str]]


def picture(before: Side, after: Side, *, told: str) -> str:
    """Both graphs as one SVG.

    Args:
        before: at the left.
        after: at the right.
        told: to those who do not see it.
    """
    sides = [(side, _placed(side)) for side in (before, after)]
    sizes = [max(72.0, placed.width) for _, (placed, _) in sides]
    tall = max(placed.height for _, (placed, _) in sides)
    width, height = PAD * 2 + sum(sizes) + ARROW_W, PAD * 2 + HEAD + tall
    body: list[str] = []
    left = float(PAD)
    for (side, (placed, at)), size in zip(sides, sizes, strict=True):
        x, y = left + (size - placed.width) / 2, PAD + HEAD + (tall - placed.height) / 2
        body.append(f'<text class="pp-h" x="{left:g}" y="{PAD + 8}">{escape(side.title)}</text>')
        body.append(f'<g transform="translate({x:g} {y:g})">{_drawn(side, placed, at)}</g>')
        left += size + ARROW_W
    x, y = PAD + sizes[0] + ARROW_W / 2, PAD + HEAD + tall / 2
    body.append(f'<path class="pp-w" d="M{x - 10:g} {y:g}h20m-5-4l5 4-5 4"/>')
    drawn = "".join(body)
    categories = {box.category for side, _ in sides for box in side.boxes if box.category}
    rules = "".join(rule for rule in _STYLE if _needed(rule, drawn)) + _category_rules(categories)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}" role="img" aria-label="{escape(told)}">'
    )
    return f"{head}\n<style>\n{rules}</style>\n{drawn}</svg>\n"


def _needed(rule: str, drawn: str) -> bool:
    """Whether a rule is about something that is drawn."""
    names = re.findall(r"\.(pp[\w-]*)", rule)
    return not names or any(re.search(rf'[" ]{name}[" ]', drawn) for name in names)


def _placed(side: Side) -> tuple[Placed, dict[str, int]]:
    at = {box.id: place for place, box in enumerate(side.boxes)}
    wires = [Wire(at[a], at[b]) for a, b in dict.fromkeys(side.edges) if a in at and b in at]
    sizes = [(box.width, box.height) for box in side.boxes]
    return layout(sizes, wires), at


def _drawn(side: Side, placed: Placed, at: dict[str, int]) -> str:
    wires = "".join(f'<path class="pp-w" d="{path}"/>' for path in placed.paths)
    boxes = (_box(box, *placed.corners[at[box.id]]) for box in side.boxes)
    return _frames(side, placed, at) + wires + "".join(boxes)


def _frames(side: Side, placed: Placed, at: dict[str, int]) -> str:
    """What lies behind the boxes of a body: in each row behind those that stand side by side."""
    frames: list[str] = []
    for body in dict.fromkeys(box.body for box in side.boxes if box.body):
        rows: dict[float, list[tuple[float, Box]]] = {}
        for box in side.boxes:
            x, y = placed.corners[at[box.id]]
            rows.setdefault(y + box.height / 2, []).append((x, box))
        runs = [
            (middle, [*run])
            for middle in sorted(rows)
            for inside, run in groupby(
                sorted(rows[middle], key=_left), lambda o, body=body: o[1].body == body
            )
            if inside
        ]
        first, last = runs[0][0], runs[-1][0]
        frames += [_band(run, middle, first, last) for middle, run in runs]
        x, y = runs[0][1][0][0], first - max(box.height for _, box in runs[0][1]) / 2
        frames.append(f'<text class="pp-q pp-r" x="{x:g}" y="{y - 6:g}">{escape(body)}</text>')
    return "".join(frames)


def _left(placed: tuple[float, Box]) -> float:
    return placed[0]


def _band(run: Sequence[tuple[float, Box]], middle: float, first: float, last: float) -> str:
    """Behind one row of a body, as far as to the rows next to it."""
    tall = max(box.height for _, box in run) / 2
    top = middle - tall - (FRAME_HEAD if middle == first else GAP_Y / 2 + FRAME_PAD)
    bottom = middle + tall + (FRAME_PAD if middle == last else GAP_Y / 2 + FRAME_PAD)
    left, right = run[0][0] - FRAME_PAD, run[-1][0] + run[-1][1].width + FRAME_PAD
    return (
        f'<rect class="pp-f" x="{left:g}" y="{top:g}" width="{right - left:g}"'
        f' height="{bottom - top:g}" rx="8"/>'
    )


def _box(box: Box, x: float, y: float) -> str:
    w, h = box.width, box.height
    rect = f'x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"'
    parts: list[str] = []
    if box.mark and box.mark != "added":
        parts.append(f'<rect class="pp-m" {rect} rx="6"/>')
    if not box.category:
        parts.append(f'<rect class="pp-io" {rect} rx="10"/>')
        parts.append(_texts(box, x + 10, y + h / 2 + 4, w - 20, "pp-q"))
    else:
        kind = f"pp-{box.category}"
        parts.append(f'<rect class="{kind}" {rect} rx="6"/>')
        parts.append(
            f'<path class="{kind}-c" d="M{x + 6:g} {y:g}h{CAP - 6}v{h:g}h{6 - CAP}'
            f'a6 6 0 0 1-6-6v{12 - h:g}a6 6 0 0 1 6-6z"/>'
        )
        middle = f"translate({x + CAP / 2:g} {y + h / 2:g})"
        parts.append(f'<path class="pp-g" transform="{middle}" d="{glyph(box.category)}"/>')
        parts.append(_texts(box, x + CAP + 7, y + NODE_H / 2 + 4, w - CAP - 14, "pp-t"))
    return "".join(parts) + _ring(box, x, y)


def _texts(box: Box, x: float, y: float, room: float, kind: str) -> str:
    size = 12 if box.category else 11.5
    text = fitted(box.text, size, room, bold=bool(box.category))
    shown = f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}'
    used = text_width(text, size, bold=bool(box.category)) + 6
    if box.quiet and room - used > 12:
        quiet = fitted(box.quiet, 11.5, room - used)
        shown += f'<tspan class="pp-q" dx="6">{escape(quiet)}</tspan>'
    shown += "</text>"
    if box.row:
        row = escape(fitted(box.row, 10.5, room))
        shown += f'<text class="pp-q pp-r" x="{x:g}" y="{y + ROW_H:g}">{row}</text>'
    return shown


def _ring(box: Box, x: float, y: float) -> str:
    if box.mark not in _SIGNS:
        return ""
    w, h = box.width + 3, box.height + 3
    right, top = x + box.width, y
    return (
        f'<rect class="pp-ring pp-{box.mark}" x="{x - 1.5:g}" y="{y - 1.5:g}" width="{w:g}"'
        f' height="{h:g}" rx="{7.5 if box.category else 11.5:g}"/>'
        f'<circle class="pp-d-{box.mark}" cx="{right:g}" cy="{top:g}" r="7"/>'
        f'<text class="pp-s" x="{right:g}" y="{top + 4:g}" text-anchor="middle">'
        f"{_SIGNS[box.mark]}</text>"
    )


_NARROW, _WIDE = set("ijlftrI.,:;|!'()[]{} /-1"), set("mwMW%@×→")


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """About how wide a text of a sans-serif is, in pixels, a little more rather than less."""
    ems = sum(
        0.4 if c in _NARROW else 0.97 if c in _WIDE else 0.73 if c.isupper() else 0.63 for c in text
    )
    return ems * size * (1.06 if bold else 1.0)


def fitted(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """A text, cut where there is no more room."""
    if text_width(text, size, bold=bold) <= room:
        return text
    while text and text_width(text + "…", size, bold=bold) > room:
        text = text[:-1]
    return text + "…"


@cache
def _viewers(file: str, constant: str) -> dict[str, str]:
    """Names and texts of an object in a file of the viewer."""
    source = (_CANVAS / file).read_text(encoding="utf-8")
    body = source.partition(f"const {constant} = {{")[2].partition("};")[0]
    return dict(re.findall(r'^\s*(\w+): "([^"]*)",$', body, flags=re.MULTILINE))


def glyph(category: str) -> str:
    """The path of a category's glyph around the origin."""
    paths = _viewers("canvas/glyphs.js", "PATHS")
    found = paths.get(category, paths["unknown"])
    rect = re.compile(r"R (\S+) (\S+) (\S+) (\S+)")
    arc = re.compile(r"M \S+ \S+ A (\S+) (\S+) (\S+) \S+ \S+")
    found = rect.sub(r"M \1 \2 h \3 v \4 h -\3 z", found)
    return arc.sub(_circle, found)


def _circle(found: re.Match[str]) -> str:
    x, y, radius = (float(text) for text in found.groups())
    half = f"a{radius:g} {radius:g} 0 0 1"
    return f"M {x + radius:g} {y:g} {half} {-2 * radius:g} 0 {half} {2 * radius:g} 0"


def _category_rules(categories: Iterable[str]) -> str:
    colours = _viewers("page/theme.js", "CATEGORIES")
    rules: list[str] = []
    for name in sorted(categories):
        light = _rgb(colours.get(name, colours["unknown"]))
        dark = _mix(light, _WHITE, 0.12)
        fill = _both(_mix(_LIGHT, light, 0.13), _mix(_DARK, dark, 0.24))
        edge = _both(_mix(_LIGHT, light, 0.6), _mix(_DARK, dark, 0.7))
        rules.append(f".pp-{name}{{fill:{fill};stroke:{edge}}}\n")
        rules.append(f".pp-{name}-c{{fill:{_both(light, dark)}}}\n")
    return "".join(rules)


def _rgb(text: str) -> Rgb:
    red, green, blue = (float(int(text[i : i + 2], 16)) for i in (1, 3, 5))
    return red, green, blue


def _mix(one: Rgb, other: Rgb, share: float) -> Rgb:
    red, green, blue = (a + (b - a) * share for a, b in zip(one, other, strict=True))
    return red, green, blue


def _both(light: Rgb, dark: Rgb) -> str:
    texts = ("#" + "".join(f"{round(c):02x}" for c in colour) for colour in (light, dark))
    return f"light-dark({','.join(texts)})"
