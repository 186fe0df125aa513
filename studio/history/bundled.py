"""Recordings that come with Passlens: looked at where they are, never among a person's own."""

from __future__ import annotations

from functools import partial

import streamlit as st

from optimizer.errors import quoted
from studio.history.actions import offer_exports
from studio.history.bundles import offer_import
from studio.history.opened import show_opened
from studio.history.table import along, listed, open_place, show_table
from studio.page.parts import show_message, words
from studio.recordings.keeper import is_shared
from studio.recordings.shipped import Shipped, find_shipped


def show_bundled(name: str, number: int | None) -> None:
    """A bundle, or one recording of it.

    Args:
        name: of the bundle.
        number: of the recording there, from 1; None for all.
    """
    bundle = find_shipped(name)
    if bundle is None or bundle.problem or (number or 0) > len(bundle.recordings):
        st.button("All recordings", icon=":material/arrow_back:", on_click=open_place)
        gone = f"No recording {quoted(name)} comes with this version of Passlens."
        show_message(bundle.problem if bundle is not None and bundle.problem else gone, key="gone")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All recordings", icon=":material/arrow_back:", on_click=open_place)
        if number is not None and len(bundle.recordings) > 1:
            st.button("Others of this bundle", on_click=partial(open_place, recorded=name))
        if number is not None:
            offer_exports(lambda: [bundle.recordings[number - 1]], 1)
        if not is_shared():
            offer_import(bundle)
    if number is not None:
        _label(bundle)
        show_opened(bundle.recordings[number - 1])
    else:
        show_list(bundle)


def show_list(bundle: Shipped) -> None:
    """What is in a bundle, labelled."""
    with st.container(key=f"earlier-{bundle.name}"):
        _label(bundle)
        if bundle.problem:
            show_message(bundle.problem, key="along-problem")
        elif bundle.recordings:
            show_table(listed(bundle.recordings), along(bundle), found=len(bundle.recordings))


def _label(bundle: Shipped) -> None:
    with st.container(key="earlier-label"):
        said = f"**Comes with Passlens** · {words(bundle.title)}"
        st.markdown(f"{said}  \n{words(bundle.origin)}")
