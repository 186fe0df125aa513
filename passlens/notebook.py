"""How a trace and a race show themselves in a notebook: a picture and a table.

All text is escaped: names and messages come out of models. Colours are told apart on a light and on
a dark page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from optimizer.numbers import counted, three_digits

if TYPE_CHECKING:  # a trace is shown without the runtime, a race without a graph
    from optimizer.rewrite.trace import Rewrite, Trace
    from profiling.racing.race import Race, Timing

WIDTH = 640
BARS_HEIGHT = 72
MOST_BARS = 320
"""Longer traces take several steps together in a bar."""

ROW = 22
LABEL_WIDTH = 160
MEDIAN_WIDTH = 120
LABEL_LENGTH = 24
MOST_ROWS = 12
GREY, ACCENT = "#8b93a3", "#5b68ee"
PALETTE = (ACCENT, "#10857f", "#c9512b", "#7a4fc0", "#a37a2c", GREY)
"""For the passes with most rewrites; all others are grey."""

_STYLE = "font-variant-numeric:tabular-nums;margin-bottom:16px"
_TABLE_STYLE = "color:inherit;font-size:inherit"


def trace_html(trace: Trace) -> str:
    """One bar a rewrite, as high as the nodes it took away; a row for each pass that fired."""
    fired = Counter(rewrite.pass_id for rewrite in trace.rewrites).most_common()
    colors = {name: PALETTE[min(i, len(PALETTE) - 1)] for i, (name, _) in enumerate(fired)}
    head = (
        f"{counted(trace.steps, 'rewrite')} by {counted(len(fired), 'pass', 'passes')}, "
        f"{trace.seconds:.2f} s"
    )
    near = f"; {counted(len(trace.declined), 'near miss', 'near misses')}" if trace.declined else ""
    saved: Counter[str] = Counter()
    for rewrite in trace.rewrites:
        saved[rewrite.pass_id] += len(rewrite.removed) - len(rewrite.added)
    rows = [
        [_swatch(colors[name]) + escape(name), str(count), str(saved[name])]
        for name, count in fired[:MOST_ROWS]
    ]
    if rest := fired[MOST_ROWS:]:
        away = sum(saved[name] for name, _ in rest)
        rows.append([f"{len(rest)} more", str(sum(count for _, count in rest)), str(away)])
    picture = _bars(trace.rewrites, colors) if trace.rewrites else ""
    columns = ["pass", "rewrites", "nodes saved"]
    return _framed(trace.model_name, head + near, picture, columns, rows)


def race_html(race: Race) -> str:
    """A line from the fastest run to the 95th percentile a variant, a mark at the median."""
    rows = [
        [escape(timing.label), *_times(timing), escape(race.verdict(timing.label))]
        for timing in race.timings
    ]
    head = f"{race.question or 'several options'}, {race.seconds:.0f} s"
    remarks = "".join(f" {remark}" for remark in race.remarks)
    columns = ["variant", "median", "95th percentile", "runs", "verdict"]
    where = race.machine.gpu or race.machine.cpu
    return _framed(where, f"{head}.{remarks}", _lines(race.timings), columns, rows)


def _times(timing: Timing) -> list[str]:
    summary = timing.summary
    if summary is None:
        return ["", "", ""]
    times = (summary.p50_ms, summary.p95_ms)
    return [*(f"{three_digits(time)} ms" for time in times), str(summary.runs)]


def _bars(rewrites: Sequence[Rewrite], colors: dict[str, str]) -> str:
    together = -(-len(rewrites) // MOST_BARS)
    groups = [rewrites[i : i + together] for i in range(0, len(rewrites), together)]
    heights = [max(0, sum(len(one.removed) - len(one.added) for one in group)) for group in groups]
    tallest, step = max([*heights, 1]), min(14.0, WIDTH / len(groups))
    drawn: list[str] = []
    for index, (group, height) in enumerate(zip(groups, heights, strict=True)):
        first, last = group[0], group[-1]
        tall = 3 + (BARS_HEIGHT - 3) * height / tallest
        steps = f"Step {first.step}" if first is last else f"Steps {first.step} to {last.step}"
        told = f"{steps}: {first.pass_id}, {counted(height, 'node')} fewer"
        drawn.append(
            f'<rect x="{index * step:.2f}" y="{BARS_HEIGHT - tall:.2f}" '
            f'width="{max(0.5, step - 1):.2f}" height="{tall:.2f}" fill="{colors[first.pass_id]}">'
            f"<title>{escape(told)}</title></rect>"
        )
    return _svg(BARS_HEIGHT, "Nodes that each rewrite took away", drawn)


def _lines(timings: Iterable[Timing]) -> str:
    found = [(timing, timing.summary) for timing in timings]
    known = [(timing, summary) for timing, summary in found if summary is not None]
    if not known:
        return ""
    scale = (WIDTH - LABEL_WIDTH - MEDIAN_WIDTH) / max(summary.p95_ms for _, summary in known)
    drawn: list[str] = []
    for index, (timing, summary) in enumerate(known):
        middle = index * ROW + ROW / 2
        low, median, high = (
            LABEL_WIDTH + scale * time for time in (summary.min_ms, summary.p50_ms, summary.p95_ms)
        )
        color = ACCENT if index else GREY
        told = f"median {three_digits(summary.p50_ms)} ms"
        drawn.append(
            f"{_text(0, middle, _cut(timing.label))}"
            f'<path d="M{low:.1f} {middle}H{high:.1f}" stroke="{color}" stroke-width="6" '
            f'stroke-opacity="0.45"/><path d="M{median:.1f} {middle - 7}v14" stroke="{color}" '
            f'stroke-width="3"/>{_text(high + 8, middle, told)}'
        )
    return _svg(len(known) * ROW, "Latency of each variant", drawn)


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y + 4}" font-size="12" fill="currentColor">{escape(text)}</text>'


def _cut(text: str) -> str:
    return text if len(text) <= LABEL_LENGTH else f"{text[: LABEL_LENGTH - 1]}…"


def _svg(height: float, label: str, drawn: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}" '
        f'style="display:block;margin:8px 0">{"".join(drawn)}</svg>'
    )


def _swatch(color: str) -> str:
    return (
        f'<span style="display:inline-block;width:10px;height:10px;margin-right:6px;'
        f'background:{color}"></span>'
    )


def _framed(
    title: str, head: str, picture: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> str:
    """Title and head are plain text, the cells of rows are HTML."""
    heads = "".join(f"<th{_aligned(i)}>{column}</th>" for i, column in enumerate(columns))
    body = "".join(
        f"<tr>{''.join(f'<td{_aligned(i)}>{cell}</td>' for i, cell in enumerate(row))}</tr>"
        for row in rows
    )
    return (
        f'<div style="{_STYLE}"><strong>{escape(title)}</strong> · {escape(head)}{picture}'
        f'<table style="{_TABLE_STYLE}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _aligned(column: int) -> str:
    """Names and sentences to the left, as nowhere in a notebook's own style."""
    return f' style="padding:2px 8px;text-align:{"left" if column in (0, 4) else "right"}"'
