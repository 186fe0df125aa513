"""Bandwidth of Transposes beside a plain copy, as an SVG that follows the reader's light or dark.

A column for each Transpose, the largest tensor first: a bar for the copy, a ring for the Transpose
as written, a dot for the reduced one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from profiling.transposes.measurement import FAR, TransposeTimes

WIDTH, HEIGHT = 1000, 380
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 76, 44
_STEPS = (1, 2, 5, 10, 20, 50, 100)
_MOST_MARKS = 8
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #414856 } .title { font-size: 15px; fill: #1b1f27 }
.grid { stroke: #e3e6eb } .stem { stroke: #c3c8d1 } .copy { stroke: #10857f; stroke-width: 2.5 }
.written { fill: none; stroke: #8b93a3; stroke-width: 1.5 } .reduced { fill: #5b68ee }
.end { text-anchor: end } .middle { text-anchor: middle } .page { fill: #ffffff }
@media (prefers-color-scheme: dark) { text { fill: #b6bcc8 } .title { fill: #eceef2 }
.grid { stroke: #2b303a } .stem { stroke: #4a515e } .page { fill: #14171c } }
"""


def picture(rows: Sequence[TransposeTimes]) -> str:
    """The SVG; rows are drawn from left to right.

    Args:
        rows: measured ones, the largest tensor first.
    """
    fastest = max((one.rate_gbps(min(one.copy_us, one.reduced_us)) for one in rows), default=1.0)
    step = next((one for one in _STEPS if fastest / one <= _MOST_MARKS), _STEPS[-1])
    top = step * math.ceil(fastest / step)
    near = sum(one.share >= FAR for one in rows)
    title = f"{near} of {len(rows)} Transposes reach {FAR:.0%} of a plain copy's rate"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{title}</title><style>{_STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT}" y="22">{title}</text>',
        *_key(),
        *_grid(top, step),
        *_columns(rows, top),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _key() -> Iterator[str]:
    y = 40
    yield f'<line class="copy" x1="{LEFT}" x2="{LEFT + 10}" y1="{y}" y2="{y}"/>'
    yield f'<text x="{LEFT + 16}" y="{y + 4}">plain copy</text>'
    yield f'<circle class="written" cx="{LEFT + 105}" cy="{y}" r="3.5"/>'
    yield f'<text x="{LEFT + 114}" y="{y + 4}">Transpose as written</text>'
    yield f'<circle class="reduced" cx="{LEFT + 255}" cy="{y}" r="3"/>'
    yield f'<text x="{LEFT + 264}" y="{y + 4}">over as few axes as it needs</text>'


def _grid(top: int, step: int) -> Iterator[str]:
    yield f'<text x="4" y="{TOP - 10}">GB/s</text>'
    for rate in range(0, top + 1, step):
        y = _y(rate, top)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="end" x="{LEFT - 6}" y="{y + 4:.1f}">{rate}</text>'


def _columns(rows: Sequence[TransposeTimes], top: int) -> Iterator[str]:
    wide = (WIDTH - LEFT - RIGHT) / max(1, len(rows))
    marked = -1e9
    for number, one in enumerate(rows):
        x = LEFT + (number + 0.5) * wide
        copy, written, reduced = (
            _y(one.rate_gbps(us), top) for us in (one.copy_us, one.written_us, one.reduced_us)
        )
        half = min(5.0, 0.45 * wide)
        yield f'<line class="stem" x1="{x:.1f}" x2="{x:.1f}" y1="{copy:.1f}" y2="{reduced:.1f}"/>'
        yield (
            f'<line class="copy" x1="{x - half:.1f}" x2="{x + half:.1f}" y1="{copy:.1f}"'
            f' y2="{copy:.1f}"/>'
        )
        yield f'<circle class="written" cx="{x:.1f}" cy="{written:.1f}" r="3.5"/>'
        yield f'<circle class="reduced" cx="{x:.1f}" cy="{reduced:.1f}" r="3"/>'
        if x - marked > WIDTH / 12:
            marked = x
            size = one.tensor.size_bytes / 2**20
            yield f'<text class="middle" x="{x:.1f}" y="{HEIGHT - 24}">{size:.3g}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text class="middle" x="{middle}" y="{HEIGHT - 6}">MiB of the tensor</text>'


def _y(rate: float, top: int) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - rate / top)
