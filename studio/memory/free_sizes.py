"""Sizes of free dimensions: assumed until somebody changes them, and then as they were set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from studio.memory.arena_map import ArenaMap
from studio.memory.setting import Setting
from studio.memory.sidebar import bind, sizes_inputs
from studio.page.parts import show_message, words

MOST_LISTED = 200


def assumed_sizes(setting: Setting, drawn: ArenaMap) -> dict[str, int]:
    """Free dimensions that nobody has set a size of, and the sizes they are taken to have.

    Args:
        setting: with the sizes that were set.
        drawn: under these; where it is planned nothing needs to be assumed.
    """
    given = dict(setting.request.sizes)
    if drawn.known:
        return {}
    return {name: size for name, size in drawn.free.items() if name not in given}


def with_sizes(setting: Setting, sizes: Mapping[str, int]) -> Setting:
    """The same with more sizes; the link does not change."""
    every = tuple(sorted((dict(setting.request.sizes) | dict(sizes)).items()))
    return replace(setting, request=replace(setting.request, sizes=every))


def say_assumed(assumed: Mapping[str, int]) -> None:
    """Which sizes the page has chosen by itself."""
    if assumed:
        listed = ", ".join(f"{name} = {size:,}" for name, size in assumed.items())
        it = "it" if len(assumed) == 1 else "them"
        said = f"At {listed}: assumed, the model leaves {it} open. Change {it} on the left."
        with st.container(key="assumed-sizes"):
            st.caption(words(said))


def say_unknown(drawn: ArenaMap) -> None:
    """Why there is no total: a sum without these tensors would be too small."""
    unknown = drawn.arena.unknown
    show_message(
        f"{len(unknown)} tensors have no known size, and no dimension that could be given one;"
        " memory cannot be planned.",
        key="unknown-sizes",
    )
    with st.expander(f"{len(unknown)} tensors of unknown size"):
        shown = unknown[:MOST_LISTED]
        st.dataframe(
            {"tensor": [one.name for one in shown], "why": [one.reason for one in shown]},
            hide_index=True,
            width="stretch",
            key="unknown-table",
        )


def change_sizes(setting: Setting, drawn: ArenaMap) -> None:
    """The sizes in use, in the sidebar; a new number plans anew."""
    given = dict(setting.request.sizes)
    used = {name: given[name] for name in drawn.free if name in given}
    if not used:
        return
    st.subheader("Sizes", anchor=False)
    sizes = sizes_inputs(used, key="use")
    if sizes != used:
        bind({**given, **sizes})
        st.rerun()
