"""The studio's web application: `streamlit run app.py`, or `passlens studio`."""

from __future__ import annotations

import streamlit as st

from studio.server import lifespan, routes

app = st.App("studio/frame/main.py", routes=routes(), lifespan=lifespan)
