"""One look for all figures: no box, light grid, direct labels; colours come from the theme."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import plotly.graph_objects as go

BEFORE_COLOR = "#8b93a3"
AFTER_COLOR = "#5b68ee"
"""Both are told apart from a light and from a dark page."""

NO_COLORS: Mapping[str, str] = MappingProxyType({})

TEMPLATE = go.layout.Template(
    layout={
        "font": {"size": 12},
        "title": {"font": {"size": 14}, "x": 0, "xanchor": "left", "yref": "container"},
        "margin": {"l": 8, "r": 16, "t": 56, "b": 8},
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
    return (BEFORE_COLOR, AFTER_COLOR, "#10857f", "#c9512b", "#7a4fc0", "#a37a2c")[index % 6]


def titled(title: str, colors: Mapping[str, str] = NO_COLORS) -> dict[str, object]:
    """A title and, under it, the variants in their colours: nobody has to look for a legend."""
    key = "   ".join(
        f'<span style="color:{color}">■</span> {label}' for label, color in colors.items()
    )
    # Plotly places a title by its middle; from the top, and the first line always at one height
    return {"text": title, "y": 1, "yanchor": "top", "pad": {"t": 6}, "subtitle": {"text": key}}


def three_digits(number: float) -> str:
    """Three significant digits without an exponent: 0.0123, 4.56, 2,820."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
