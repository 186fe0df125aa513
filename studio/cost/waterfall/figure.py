"""The waterfall from the source to the optimized graph, on paper or measured."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import exp, inf

import plotly.graph_objects as go

from optimizer.numbers import Unit, counted, decimal_unit, three_digits, times_text, unit_of
from profiling.worth.levels import MOST_LOG
from profiling.worth.waterfall import Bar, MeasuredBar, Metric, Waterfall
from studio.cost.trace_costs import steps_text
from studio.cost.waterfall.rows_figure import FAMILY_COLORS, MOST_ROWS, Ends, Row, waterfall_rows
from studio.figures.template import BEFORE_COLOR, short

_MOST_LABEL = 38
_LEAST_SHARE = 0.1
NODES = "nodes"
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def scale_of(metric: Metric, most: float) -> Unit:
    """Nodes are counted one by one; bytes in KiB, …; FLOP in thousands, …; time in ns, µs, …."""
    if metric == "nodes":
        return Unit(NODES, 1.0)
    if metric == "bytes":
        unit = unit_of(most)
        return Unit(f"{unit.name} moved", unit.size)
    if metric == "flops":
        return decimal_unit(most, "FLOP")
    size, name = next(scale for scale in _TIMES if most >= scale[0] or scale[0] == 1.0)
    return Unit(f"{name} predicted", size)


def amount_in(scale: Unit, amount: float) -> str:
    """Three digits and the unit; nodes are whole."""
    return counted(int(amount), "node") if scale.name == NODES else scale.text(amount)


def signed_text(amount: int, metric: Metric) -> str:
    """A change with its sign, in the unit that suits it: "−16.4 KiB"."""
    text = amount_in(scale_of(metric, abs(amount)), abs(amount))
    return f"{'+' if amount > 0 else '−'}{text.removesuffix(' moved').removesuffix(' predicted')}"


def static_waterfall(
    found: Waterfall, labels: Sequence[str], families: Sequence[str]
) -> tuple[go.Figure, tuple[tuple[Bar, ...], ...]]:
    """What every bar changed on paper; nothing is uncertain.

    Args:
        found: the waterfall.
        labels: of its bars.
        families: of their passes.

    Returns:
        The figure, and the bars that are drawn in each of its rows: a row may stand for several.
    """
    scale = scale_of(found.metric, max(found.before, found.after))
    shown = _shown(found.bars)
    named = list(zip(found.bars, labels, families, strict=True))
    drawn: list[tuple[tuple[Bar, ...], str, str]] = [
        ((named[index][0],), *named[index][1:]) for index in sorted(shown)
    ]
    rest = tuple(bar for index, bar in enumerate(found.bars) if index not in shown)
    if rest:
        drawn.append((rest, f"{len(rest)} others", "imported"))
    rows = [
        _static_row(bars, label, family, found=found, scale=scale) for bars, label, family in drawn
    ]
    together = [bars for bars, *_ in drawn]
    if found.elsewhere:
        rows.append(_elsewhere_row(found, scale))
        together.append(())
    texts = (amount_in(scale, found.before), amount_in(scale, found.after))
    ends = Ends(found.before / scale.size, texts, scale.name)
    title = _static_title(found, labels, scale)
    return waterfall_rows(rows, ends, title=title, key=_key(families)), tuple(together)


def _shown(bars: Sequence[Bar]) -> set[int]:
    """The bars that changed most, if all are too many."""
    if len(bars) <= MOST_ROWS:
        return set(range(len(bars)))
    order = sorted(range(len(bars)), key=lambda index: -abs(bars[index].change))
    return set(order[: MOST_ROWS - 1])


def _static_row(
    bars: tuple[Bar, ...], label: str, family: str, *, found: Waterfall, scale: Unit
) -> Row:
    whole, change = found.after - found.before, sum(bar.change for bar in bars)
    share = f" · {_percent(100 * change / whole)}" if change * whole > 0 else ""
    amount = (signed_text(change, found.metric) if change else "no change") + share
    steps = [step for bar in bars for step in bar.steps]
    hover = f"{escape(label)}<br>{steps_text(steps)}<br>{amount}"
    color = FAMILY_COLORS.get(family, BEFORE_COLOR)
    return Row(short(label, _MOST_LABEL), color, -change / scale.size, amount, hover)


def _percent(share: float) -> str:
    return f"{three_digits(share)} %" if share >= _LEAST_SHARE else f"below {_LEAST_SHARE} %"


def elsewhere_label(found: Waterfall) -> str:
    """What the row behind all bars is called."""
    if found.metric != "predicted":
        return "in no bar"
    return f"{'warmer' if found.elsewhere < 0 else 'colder'} caches at other launches"


def _elsewhere_row(found: Waterfall, scale: Unit) -> Row:
    amount = signed_text(found.elsewhere, found.metric)
    label = elsewhere_label(found)
    change = -found.elsewhere / scale.size
    return Row(label, BEFORE_COLOR, change, amount, f"{label}<br>{amount}")


def _static_title(found: Waterfall, labels: Sequence[str], scale: Unit) -> str:
    before, after = found.before, found.after
    first = amount_in(scale, before).removesuffix(f" {scale.name}")
    whole = f"{first} → {amount_in(scale, after)}"
    if before == after:
        return f"{whole}: nothing changed"
    percent = 100 * (after - before) / before if before else inf
    sign = "−" if percent < 0 else "+"
    title = f"{whole}, {sign}{three_digits(abs(percent))} %"
    best = found.strongest
    if best is None or after > before:
        return title
    share = 100 * best.change / (after - before)
    return f"{title}: {escape(labels[found.bars.index(best)])} gave {share:.0f} % of it"


def measured_waterfall_figure(
    bars: Sequence[MeasuredBar],
    source_ms: float,
    *,
    title: str,
    labels: Sequence[str],
    families: Sequence[str],
) -> go.Figure:
    """Milliseconds of one run, bar by bar, each with its 95 % interval.

    Args:
        bars: they add up to the whole.
        source_ms: latency of the source.
        title: says the finding.
        labels: of the bars.
        families: of their passes.
    """
    rows: list[Row] = []
    level = source_ms
    for bar, label, family in zip(bars, labels, families, strict=True):
        rows.append(_measured_row(bar, label, family, level=level))
        level -= bar.saved_ms
    texts = (f"{three_digits(source_ms)} ms", f"{three_digits(level)} ms")
    ends = Ends(source_ms, texts, "ms, one run")
    return waterfall_rows(rows, ends, title=escape(title), key=_key(families))


def _measured_row(bar: MeasuredBar, label: str, family: str, *, level: float) -> Row:
    change = bar.change
    low, high = (
        level * (1 - exp(-max(-MOST_LOG, min(MOST_LOG, end)))) for end in (change.low, change.high)
    )
    sign = "−" if bar.saved_ms >= 0 else "+"
    amount = f"{sign}{three_digits(abs(bar.saved_ms))} ms · {times_text(change.speedup)}"
    if not change.clear:
        amount = "no clear difference"
    told = f"{times_text(change.speedup)}, {change.interval}"
    hover = f"{escape(label)}<br>{steps_text(bar.steps)}<br>{told}"
    color = FAMILY_COLORS.get(family, BEFORE_COLOR)
    return Row(
        short(label, _MOST_LABEL),
        color,
        bar.saved_ms,
        amount,
        hover,
        (low, high),
        clear=change.clear,
    )


def _key(families: Sequence[str]) -> dict[str, str]:
    return {name: color for name, color in FAMILY_COLORS.items() if name in families}
