"""Figures on a page: all are downloaded alike, and each has its numbers as a table."""

from __future__ import annotations

from typing import Any, cast

import plotly.graph_objects as go
import streamlit as st

Table = dict[str, list[Any]]
_KIND = "picture-kind"
_NOT_NEEDED = ["select2d", "lasso2d", "autoScale2d"]
_NEITHER = ["zoom2d", "pan2d"]
"""Where nothing can be dragged."""


def show_figure(figure: go.Figure, name: str) -> None:
    """A figure in the page's width; the camera button saves it as `passlens-<name>`.

    Args:
        figure: with a height of its own.
        name: unique on the page.
    """
    _chart(figure, name, on_select="ignore")


def picked_trace(figure: go.Figure, name: str) -> int | None:
    """A figure; the number of the trace that a visitor clicked."""
    point = _picked_point(figure, name)
    return int(point["curve_number"]) if point else None


def picked_key(figure: go.Figure, name: str) -> str | None:
    """A figure; the first of the custom data of the point that a visitor clicked."""
    data = _picked_point(figure, name).get("customdata")
    return str(data[0]) if data else None


def _picked_point(figure: go.Figure, name: str) -> dict[str, Any]:
    event = _chart(figure, name, on_select="rerun")
    points: list[dict[str, Any]] = event["selection"]["points"]
    return points[0] if points else {}


def _chart(figure: Any, name: str, *, on_select: Any) -> Any:
    still = _NEITHER if figure.layout.dragmode is False else []
    draw = cast("Any", st.plotly_chart)  # what it returns depends on `on_select`
    return draw(
        figure,
        width="stretch",
        key=f"figure-{name}",
        on_select=on_select,
        selection_mode="points",
        config={
            "displaylogo": False,
            "modeBarButtonsToRemove": [*_NOT_NEEDED, *still],
            "toImageButtonOptions": {
                "format": picture_kind(), "filename": f"passlens-{name}", "scale": 2
            },
        },
    )  # fmt: skip


def show_twin(title: str, table: Table, *, expanded: bool = False) -> None:
    """A figure's numbers, folded away."""
    with st.expander(title, expanded=expanded):
        show_table(table)


def picked_row(title: str, table: Table, *, key: str, expanded: bool = False) -> int | None:
    """A figure's numbers, folded away; the row that a visitor chose."""
    with st.expander(title, expanded=expanded):
        event: Any = st.dataframe(
            table, hide_index=True, width="stretch", key=f"table-{key}", on_select="rerun",
            selection_mode="single-row",
        )  # fmt: skip
    rows: list[int] = event["selection"]["rows"]
    return rows[0] if rows else None


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


def is_dark() -> bool:
    """Whether the visitor's page is dark."""
    return st.context.theme.type == "dark"
