"""The numbers of an activation and of weights, with the ranges that 8 bits are given."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

import plotly.graph_objects as go

from optimizer.numbers import bytes_text, counted, three_digits, unit_of
from optimizer.verify.budget import decibels
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, rows_axis, short, titled
from studio.precision.ranges.inventory import Inventory, WeightedProduct
from studio.precision.ranges.job import Bins, Fit, Observed, WeightDistribution

CLIPPED_COLOR = "#c9512b"
_CHANNEL_COLOR = "#a37a2c"
_HEIGHT = 350
_BITS: Mapping[str, int] = {"float16": 16, "int8": 8, "4 bits": 4}
_MOST_NAME = 48
_ROW_PX = 30
_ROW_SHARE = 0.075
"""Of the height, for a range."""


def activation(
    value: Observed, method: str, titles: Mapping[str, str], *, source: str
) -> go.Figure:
    """How the numbers of a value lie, every method's range above, and what the chosen one clips.

    Args:
        value: on samples.
        method: the chosen one.
        titles: of all methods by id.
        source: which samples; stands below the title.
    """
    chosen = value.fit(method)
    figure = go.Figure(_bars(value.bins, chosen.kept.low, chosen.kept.high))
    rows: list[_Interval] = []
    for fit in value.fits:
        text = f"{escape(titles.get(fit.method, fit.method))} {_db(fit.loss.sqnr_db)}"
        color = AFTER_COLOR if fit is chosen else BEFORE_COLOR
        text = f"<b>{text}</b>" if fit is chosen else text
        rows.append(_Interval(text, fit.kept.low, fit.kept.high, color))
    _draw_intervals(figure, rows)
    title = f"{titles.get(chosen.method, chosen.method)}: {_kept_text(chosen)}"
    return _finished(figure, title, f"{short(value.name, _MOST_NAME)} · {source}", value.bins)


def weights(found: WeightDistribution, product: WeightedProduct) -> go.Figure:
    """How the weights of a product lie; above, the ranges of its channels, which clip nothing."""
    least, most = found.magnitudes[0], found.magnitudes[-1]
    figure = go.Figure(_bars(found.bins, -math.inf, math.inf))
    channels = {"widest channel": most, "middle": _middle(found), "narrowest": least}
    _draw_intervals(
        figure,
        [
            _Interval(f"{text} ±{three_digits(size)}", -size, size, _CHANNEL_COLOR)
            for text, size in channels.items()
        ],
    )
    title = f"Weights, a scale a channel: nothing clipped, {_db(found.per_channel.sqnr_db)}"
    one = f"one scale for all {_db(found.per_tensor.sqnr_db)}"
    shape = "×".join(map(str, product.shape))
    about = f"{short(product.name, _MOST_NAME)} · {product.op_type} {shape} · {one}"
    return _finished(figure, title, about, found.bins, reach=most)


def sizes(inventory: Inventory) -> go.Figure:
    """Bytes of all constants as they are, and what their floats would take in fewer bits."""
    floats = sum(one.numbers for one in inventory.stored if one.dtype in _FLOATS)
    others = sum(one.size_bytes for one in inventory.stored if one.dtype not in _FLOATS)
    totals = {"as it is": inventory.size_bytes}
    fewer = {f"floats in {name}": floats * bits // 8 + others for name, bits in _BITS.items()}
    totals |= {name: size for name, size in fewer.items() if size < inventory.size_bytes}
    labels = list(totals)
    unit = unit_of(max(totals.values()))
    figure = go.Figure(
        go.Bar(
            x=[size / unit.size for size in totals.values()],
            y=list(range(len(totals))),
            orientation="h",
            marker={"color": [BEFORE_COLOR, *[AFTER_COLOR] * (len(totals) - 1)]},
            text=[f"\u2002{bytes_text(size)}" for size in totals.values()],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(sizes_title(inventory)),
        height=96 + _ROW_PX * len(labels),
        margin={"r": 90},
        xaxis={"title": f"{unit.name}, scales not counted", "rangemode": "tozero"},
        yaxis=rows_axis(labels),
    )
    return figure


_FLOATS = ("float32", "float16", "bfloat16", "float64")


def sizes_title(inventory: Inventory) -> str:
    """What most of the file is."""
    if not inventory.stored:
        return "No constants"
    main = inventory.stored[0]
    share = 100 * main.size_bytes / max(1, inventory.size_bytes)
    return f"Constants take {bytes_text(inventory.size_bytes)}, {share:.3g} % of it {main.dtype}"


def _bars(bins: Bins, low: float, high: float) -> go.Bar:
    """A bar a bin; what lies outside of the range in another colour."""
    starts = [bins.low + number * bins.width for number in range(len(bins.counts))]
    middles = [start + bins.width / 2 for start in starts]
    inside = [start < high and start + bins.width > low for start in starts]
    colors = [AFTER_COLOR if kept else CLIPPED_COLOR for kept in inside]
    total = max(1, sum(bins.counts))
    return go.Bar(
        x=middles,
        y=[count / total if count else None for count in bins.counts],
        width=bins.width,
        marker={"color": colors, "line": {"width": 0}},
        hovertemplate="%{x:.3g}: %{y:.2%}<extra></extra>",
    )


@dataclass(frozen=True, slots=True)
class _Interval:
    """A range in a row of its own; `text` is safe for Plotly's own markup."""

    text: str
    low: float
    high: float
    color: str


def _draw_intervals(figure: go.Figure, rows: Sequence[_Interval]) -> None:
    """Ranges above the histogram, in rows, where nothing of one covers another."""
    for place, row in enumerate(rows):
        figure.add_trace(
            go.Scatter(
                x=[row.low, row.high],
                y=[place, place],
                yaxis="y2",
                mode="lines+markers",
                line={"color": row.color, "width": 2},
                marker={"symbol": "line-ns", "size": 9, "line": {"width": 2, "color": row.color}},
                hovertemplate="%{x:.4g}<extra></extra>",
            )
        )
    share = _ROW_SHARE * len(rows)
    figure.update_layout(
        yaxis={"domain": [0, 1 - share - 0.03]},
        yaxis2={**rows_axis(row.text for row in rows), "domain": [1 - share, 1]},
    )


def _finished(
    figure: go.Figure, title: str, about: str, bins: Bins, *, reach: float = 0.0
) -> go.Figure:
    """The look of both; what is up to `reach` from zero is in the picture, too."""
    low = min(-reach, bins.low)
    high = max(reach, bins.low + len(bins.counts) * bins.width)
    margin = 0.03 * (high - low)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), about=about),
        height=_HEIGHT,
        bargap=0,
        margin={"t": 64},
        xaxis={"range": [low - margin, high + margin], "title": "value"},
        yaxis={"type": "log", "title": "share of the numbers", **_share_ticks(bins)},
        hovermode="closest",
    )
    return figure


def _share_ticks(bins: Bins) -> dict[str, Any]:
    """Powers of ten down to a single number."""
    least = math.floor(math.log10(1 / max(1, sum(bins.counts))))
    powers = list(range(0, least - 1, -2 if least < -5 else -1))
    texts = [f"{100 * 10.0**power:g} %" for power in powers]
    return {
        "range": [least, 0.1], "tickvals": [10.0**power for power in powers], "ticktext": texts,
    }  # fmt: skip


def _kept_text(fit: Fit) -> str:
    ends = f"{_signed(fit.kept.low)} … {_signed(fit.kept.high)}"
    clipped = f"{_percent(fit.loss.clipped)} clipped" if fit.loss.clipped else "nothing clipped"
    return f"{ends}, {clipped}, {_db(fit.loss.sqnr_db)}"


def _percent(share: float) -> str:
    return f"{three_digits(100 * share)} %"


def _signed(number: float) -> str:
    return three_digits(number).replace("-", "\N{MINUS SIGN}")


def _db(decibels: float) -> str:
    return f"{three_digits(decibels)} dB" if math.isfinite(decibels) else "no error"


def _middle(found: WeightDistribution) -> float:
    return found.magnitudes[len(found.magnitudes) // 2]


def ranges_text(values: Sequence[Observed], method: str, titles: Mapping[str, str]) -> str:
    """What a method does to all values, and which one loses least on most of them."""
    fits = [(value, value.fit(method).loss) for value in values]
    lossy = [(value, loss) for value, loss in fits if math.isfinite(loss.sqnr_db)]
    title = titles.get(method, method)
    if not lossy:
        return f"{title}: no value loses anything in int8."
    worst, loss = min(lossy, key=lambda one: one[1].sqnr_db)
    middle = median(one.sqnr_db for _, one in lossy)
    clipped = sum(one.clipped > 0 for _, one in fits)
    best = Counter(max(value.fits, key=lambda fit: fit.loss.sqnr_db).method for value, _ in lossy)
    least, count = best.most_common(1)[0]
    return (
        f"{title} clips {clipped:,} of {counted(len(fits), 'value')}: they keep {decibels(middle)}"
        f" in the middle, {decibels(loss.sqnr_db)} at worst, {worst.name}."
        f" {titles.get(least, least)} loses least on {count:,}."
    )


def values_table(values: Sequence[Observed], titles: Mapping[str, str]) -> dict[str, list[Any]]:
    """A row a value: what was seen, and every method's range and cost."""
    table: dict[str, list[Any]] = {
        "value": [value.name for value in values],
        "made by": [value.op_type for value in values],
        "smallest": [value.seen.low for value in values],
        "largest": [value.seen.high for value in values],
    }
    for number, method in enumerate(fit.method for fit in (values[0].fits if values else ())):
        title, fits = titles.get(method, method), [value.fits[number] for value in values]
        table[f"{title}: from"] = [fit.kept.low for fit in fits]
        table[f"{title}: to"] = [fit.kept.high for fit in fits]
        table[f"{title}: clipped, %"] = [100 * fit.loss.clipped for fit in fits]
        table[f"{title}: dB"] = [
            fit.loss.sqnr_db if math.isfinite(fit.loss.sqnr_db) else None for fit in fits
        ]
    table["infinite or NaN"] = [value.strange for value in values]
    return table
