"""History: what was measured, to be found, opened, compared and taken along."""

from __future__ import annotations

from functools import partial

import streamlit as st

from optimizer.errors import StudioError, quoted
from profiling.records import Filter
from studio.history.actions import offer_deletion, offer_exports, show_refusal
from studio.history.bundles import offer_bundles, offer_import
from studio.history.cache import show_cache
from studio.history.filters import choose_filter, page_number
from studio.history.opened import show_opened
from studio.history.table import PER_PAGE, along, listed, open_place, own, show_table
from studio.page.parts import go_to, show_error, show_message, words
from studio.recordings.keeper import is_shared
from studio.recordings.shipped import Shipped, find_shipped, place_of, shipped
from studio.services import keeper, records
from studio.workspace import current


def render() -> None:
    """The page."""
    show_refusal()
    try:
        place, identity = place_of(current().recorded), current().record
        if place is not None:
            with st.sidebar:
                offer_bundles()
            _bundled(*place)
        elif identity is not None:
            _opened(identity)
        else:
            _list()
    except StudioError as error:
        show_error(error, key="history")


def _opened(identity: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        _back()
        rest = st.container(horizontal=True, vertical_alignment="center")
    recording = records().load(identity)
    with rest:
        offer_exports(lambda: [recording], 1)
        offer_deletion((identity,))
    show_opened(recording)


def _back() -> None:
    st.button("All recordings", icon=":material/arrow_back:", on_click=open_place)


def _list() -> None:
    with st.sidebar:
        above = st.container()
        offer_bundles()
        show_cache()
    if keeper().problem:
        show_message(f"The last result was not kept. {keeper().problem}", key="not-kept")
    if records().count() == 0:
        _nothing_yet()
        return
    with above:
        wanted = choose_filter(records().choices())
    found = records().count(wanted)
    if found == 0:
        st.html('<div class="empty"><p>No recording fits this filter.</p></div>')
        return
    number = page_number(found, PER_PAGE)
    entries = records().find(wanted, limit=PER_PAGE, offset=number * PER_PAGE)
    first, narrowed = number * PER_PAGE + 1, wanted != Filter()
    show_table(entries, own(), found=found, first=first, narrowed=narrowed)


def _nothing_yet() -> None:
    kept = (
        "This server keeps what is measured on its sample networks, for everybody to see; nothing "
        "of an upload is kept."
        if is_shared()
        else "They stay on this machine until you delete them."
    )
    st.html(
        '<div class="empty"><h2>No recordings yet</h2>'
        "<p>Every race, sweep, profile and benchmark is kept here with its machine and date: "
        f"to open again, to compare with later ones, to export.</p><p>{kept}</p></div>"
    )
    if st.button("Race a model", type="primary", key="history-first"):
        go_to("run")
    for bundle in shipped()[:1]:
        _list_bundle(bundle)


def _bundled(name: str, number: int | None) -> None:
    """A bundle, or one recording of it.

    Args:
        name: of the bundle.
        number: of the recording there, from 1; None for all.
    """
    bundle = find_shipped(name)
    if bundle is None or bundle.problem or (number or 0) > len(bundle.recordings):
        _back()
        gone = f"No recording {quoted(name)} comes with this version of Passlens."
        show_message(bundle.problem if bundle is not None and bundle.problem else gone, key="gone")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        _back()
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
        _list_bundle(bundle)


def _list_bundle(bundle: Shipped) -> None:
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
