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
