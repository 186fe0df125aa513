"""The studio's frame: navigation, and the page a visitor asked for.

This script must not lie beside the folder `pages`: Streamlit would take that for its own.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from studio.pages import export, model, rewrite, run

ASSETS = Path(__file__).parents[1] / "assets"

st.set_page_config(
    page_title="Passlens",
    page_icon=str(ASSETS / "favicon.svg"),
    layout="wide",
    initial_sidebar_state="auto",
)
st.html(Path(__file__).parent / "frame.css")
st.logo(str(ASSETS / "logo.svg"), size="small")
page = st.navigation(
    [
        st.Page(model.render, title="Model", url_path="model"),
        st.Page(rewrite.render, title="Rewrite", url_path="rewrite", default=True),
        st.Page(run.render, title="Run", url_path="run"),
        st.Page(export.render, title="Export", url_path="export"),
    ],
    position="top",
)
page.run()
