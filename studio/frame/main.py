"""The studio's frame: navigation, and the page a visitor asked for.

This script must not lie beside the folder `pages`: Streamlit would take that for its own.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from studio.cost import page as cost
from studio.export import page as export
from studio.frame.bar import show_bar
from studio.frame.places import BEHIND_SHARE, HOME, PLACES, title
from studio.history import page as history
from studio.memory import page as memory
from studio.model import page as model
from studio.opening import hold_open, title_of
from studio.page.parts import set_places
from studio.rewrite import page as rewrite
from studio.run import page as run
from studio.workspace import current, remember

ASSETS = Path(__file__).parents[1] / "assets"
MOST_TITLE = 48
SIDEBAR_PX = 280

name = "".join(c for c in title_of(current()) if c.isprintable())[:MOST_TITLE]
st.set_page_config(
    page_title=f"{name} · Passlens" if name else "Passlens",
    page_icon=str(ASSETS / "favicon.svg"),
    layout="wide",
    initial_sidebar_state=SIDEBAR_PX,
)
st.html(Path(__file__).parent / "frame.css")
st.html(Path(__file__).parent / "history.html", unsafe_allow_javascript=True)
render = {
    "model": model.render,
    "rewrite": rewrite.render,
    "run": run.render,
    "memory": memory.render,
    "cost": cost.render,
    "history": history.render,
    "export": export.render,
}
places = {
    place: st.Page(
        render[place],
        title=title(place),
        url_path=place,
        default=place == HOME,
        visibility="hidden" if place == BEHIND_SHARE else "visible",
    )
    for place in PLACES
}
set_places(places)
page = st.navigation(list(places.values()), position="top")
remember(current())
show_bar(name or "No model")
page.run()
hold_open(current())
