"""The studio's frame: navigation, and the page a visitor asked for.

This script must not lie beside the folder `pages`: Streamlit would take that for its own.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import streamlit as st

from studio.frame.bar import about_opening, show_bar
from studio.frame.places import BEHIND_SHARE, HOME, PLACES, title
from studio.model.chooser import being_opened
from studio.opening import hold_open, title_of
from studio.page.parts import arrive, end_parts, run_again_after, set_places
from studio.workspace import current, remember

ASSETS = Path(__file__).parents[1] / "assets"
MOST_TITLE = 48
SIDEBAR_PX = 280

end_parts()
name = "".join(c for c in title_of(current()) if c.isprintable())[:MOST_TITLE]
st.set_page_config(
    page_title=f"{name} · Passlens" if name else "Passlens",
    page_icon=str(ASSETS / "favicon.svg"),
    layout="wide",
    initial_sidebar_state=SIDEBAR_PX,
)
st.html(Path(__file__).parent / "frame.css")
st.html(Path(__file__).parent / "history.html", unsafe_allow_javascript=True)
places = {
    place: st.Page(
        import_module(f"studio.{place}.page").render,
        title=title(place),
        url_path=place,
        default=place == HOME,
        visibility="hidden" if place == BEHIND_SHARE else "visible",
    )
    for place in PLACES
}
set_places(places)
page = st.navigation(list(places.values()), position="top")
arrive(page)
remember(current())
# The page Model tells of it by itself, and goes on with it.
wanted = None if page == places["model"] else being_opened()
show_bar(name or "No model", opening=about_opening(wanted))
page.run()
run_again_after([] if wanted is None or wanted.task.done else [wanted.task])
hold_open(current())
