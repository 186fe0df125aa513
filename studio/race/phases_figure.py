"""What a program waits for before it is warm: phases of a fresh process, and its early runs."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from optimizer.numbers import three_digits
from profiling.racing.race import Phases, Race, Timing
from studio.figures.template import TEMPLATE, color_of, log_axis, titled

PHASES = ("import", "create session", "first run", "warm-up", "one warm run")
_COLORS = ("#717d1a", "#3168c9", "#bd4585", "#875638", "#2b8254")
"""None of them is the colour of a variant."""

_BAR_PX = 40
_UNITS = ((1000.0, "s"), (1.0, "ms"))


def phase_values(timing: Timing) -> list[float]:
    """Milliseconds of each of `PHASES`: warm-up until it settled, and the median steady run."""
    phases = timing.phases
    if phases is None:
        return [0.0] * len(PHASES)
    warm_up_ms = sum(phases.warm_up_ms[: phases.warm_after])
    steady_ms = timing.summary.p50_ms if timing.summary is not None else 0.0
    return [phases.import_ms, phases.create_ms, phases.first_ms, warm_up_ms, steady_ms]


def named(timing: Timing, race: Race, *, of: int) -> str:
    """What a variant is called beside itself under another question.

    Args:
        timing: the variant's.
        race: it was in.
        of: how many races stand together.
    """
    return f"{timing.label}, {race.question}" if of > 1 else timing.label


def phase_bars(*races: Race) -> go.Figure:
    """One stacked bar a variant, from the import of the runtime to a warm run.

    Args:
        races: one for each question; at least one variant has phases.
    """
    rows = {
        named(timing, race, of=len(races)): timing
        for race in races
        for timing in race.timings
        if timing.phases is not None
    }
    timed = list(rows.values())
    values = [phase_values(timing) for timing in timed]
    longest = max(map(sum, values))
    scale, unit = next((u for u in _UNITS if longest >= 2 * u[0]), _UNITS[-1])
    figure = go.Figure()
    for index, (phase, color) in enumerate(zip(PHASES, _COLORS, strict=True)):
        times = [row[index] for row in values]
        figure.add_trace(
            go.Bar(
                x=[time / scale for time in times],
                y=[f"{escape(label)} " for label in rows],
                orientation="h",
                name=phase,
                marker={"color": color},
                text=[_inside(time, longest) for time in times],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": "#ffffff", "size": 11},
                constraintext="none",
                customdata=[[three_digits(time)] for time in times],
                hovertemplate=f"%{{y}}<br>{phase}: %{{customdata[0]}} ms<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(phases_title(timed), dict(zip(PHASES, _COLORS, strict=True))),
        barmode="stack",
        height=120 + _BAR_PX * len(timed),
        bargap=0.4,
        xaxis={"title": f"{unit} since the process began to import the runtime"},
        yaxis={"autorange": "reversed", "showgrid": False, "type": "category"},
        uirevision="phases",
    )
    return figure


def phases_title(timed: list[Timing]) -> str:
    """How long the first result takes, and how long a warm run."""
    cold = _span([timing.phases.cold_ms for timing in timed if timing.phases is not None])
    warm = _span([timing.summary.p50_ms for timing in timed if timing.summary is not None])
    return f"The first result takes {cold} ms" + (f", a warm run {warm} ms" if warm else "")


def _span(values: list[float]) -> str:
    ends = list(dict.fromkeys(map(three_digits, (min(values), max(values))))) if values else []
    return " to ".join(ends)


def _inside(time_ms: float, longest_ms: float) -> str:
    return three_digits(time_ms) if time_ms > 0.06 * longest_ms else ""


def warm_up_lines(*races: Race) -> go.Figure:
    """The latency of each early run, and the run after which it had settled.

    Args:
        races: one for each question, the second one dotted; at least one variant has phases.
    """
    figure = go.Figure()
    timed: list[Timing] = []
    colors: dict[str, str] = {}
    for race in races:
        dash = "solid" if race is races[0] else "dot"
        for row, timing in enumerate(race.timings):
            if timing.phases is None:
                continue
            timed.append(timing)
            colors[escape(timing.label)] = color_of(row)
            label = escape(named(timing, race, of=len(races)))
            _early(figure, timing.phases, {"color": color_of(row), "dash": dash}, label)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_warm_title(timed), colors),
        height=300,
        xaxis={
            "title": "run of the process; ◆ the first one that counts as warm",
            "rangemode": "tozero",
        },
        yaxis={
            "title": "ms, logarithmic",
            **log_axis([t for one in timed if one.phases for t in early_runs(one.phases)]),
        },
        uirevision="warm-up",
    )
    return figure


def early_runs(phases: Phases) -> list[float]:
    """The first run and those of the warm-up, in milliseconds."""
    first = [phases.first_ms] if phases.first_ms else []
    return first + list(phases.warm_up_ms)


def _early(figure: go.Figure, phases: Phases, line: dict[str, str], label: str) -> None:
    runs = early_runs(phases)
    figure.add_trace(
        go.Scatter(
            x=list(range(1, len(runs) + 1)),
            y=runs,
            mode="lines+markers",
            line={**line, "width": 1.25},
            marker={"size": 4},
            hovertemplate=f"{label}<br>run %{{x}}: %{{y:.3g}} ms<extra></extra>",
        )
    )
    settled = 1 + phases.warm_after
    if settled < len(runs):
        figure.add_trace(
            go.Scatter(
                x=[settled + 1],
                y=[runs[settled]],
                mode="markers",
                marker={"color": line["color"], "size": 11, "symbol": "diamond"},
                hovertemplate=f"{label}<br>warm from run %{{x}} on<extra></extra>",
            )
        )


def _warm_title(timed: list[Timing]) -> str:
    runs = [1 + timing.phases.warm_after for timing in timed if timing.phases is not None]
    low, high = min(runs), max(runs)
    count = f"{low}" if low == high else f"{low} to {high}"
    return f"Warm after {count} run{'s' if high > 1 else ''}"
