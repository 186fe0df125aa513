"""One look for all figures: no box, light grid, direct labels; colours come from the theme."""

from __future__ import annotations

import plotly.graph_objects as go

BEFORE_COLOR = "#8b93a3"
AFTER_COLOR = "#4a57e0"

TEMPLATE = go.layout.Template(
    layout={
        "font": {"size": 12},
        "title": {"font": {"size": 14}, "x": 0, "xanchor": "left", "pad": {"b": 8}},
        "margin": {"l": 8, "r": 16, "t": 40, "b": 8},
        "hoverlabel": {"align": "left"},
        "xaxis": {"zeroline": False, "gridwidth": 0.5, "automargin": True},
        "yaxis": {"zeroline": False, "gridwidth": 0.5, "automargin": True},
        "bargap": 0.35,
        "showlegend": False,
        "separators": ".\u2009",
    }
)


def color_of(index: int) -> str:
    """The colour of a variant: the baseline grey, the first challenger in the accent colour."""
    return (BEFORE_COLOR, AFTER_COLOR, "#10857f", "#c9512b", "#7a4fc0")[index % 5]


def three_digits(number: float) -> str:
    """Three significant digits without an exponent: 0.0123, 4.56, 2,820."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


LEGEND = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "right", "x": 1.0}
"""A legend in the line of the title."""
