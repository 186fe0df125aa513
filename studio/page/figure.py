"""Figures on a page: all are downloaded alike, and each has its numbers as a table."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

Table = dict[str, list[Any]]
_KIND = "picture-kind"
_NOT_NEEDED = ["select2d", "lasso2d", "autoScale2d"]


def show_figure(figure: go.Figure, name: str) -> None:
    """A figure in the page's width; the camera button saves it as `passlens-<name>`.

    Args:
        figure: with a height of its own.
        name: unique on the page.
    """
    picture = {"format": picture_kind(), "filename": f"passlens-{name}", "scale": 2}
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": _NOT_NEEDED,
        "toImageButtonOptions": picture,
    }
    st.plotly_chart(figure, width="stretch", key=f"figure-{name}", config=config)


def show_twin(title: str, table: Table) -> None:
    """A figure's numbers, folded away."""
    with st.expander(title):
        show_table(table)


def show_table(table: Table) -> None:
    """A table in the page's width; it downloads as CSV."""
    st.dataframe(table, hide_index=True, width="stretch")


def choose_picture_kind() -> None:
    """What the camera button of a figure saves."""
    st.segmented_control(
        "Figures download as",
        ["svg", "png"],
        default="svg",
        key=_KIND,
        label_visibility="collapsed",
        help="What the camera button of a figure saves.",
    )


def picture_kind() -> str:
    """The kind that is chosen: svg or png."""
    return st.session_state.get(_KIND) or "svg"
