"""Sizes of free dimensions: without them no total is told."""

from __future__ import annotations

from functools import partial

import streamlit as st

from studio.numbers import counted
from studio.pages.memory.setting import Setting
from studio.pages.memory.sidebar import bind, sizes_inputs
from studio.pages.parts import show_message
from studio.planning.arena_map import ArenaMap

MOST_LISTED = 200


def ask_for_sizes(setting: Setting, drawn: ArenaMap) -> None:
    """What is missing, and one click that supplies it."""
    given = dict(setting.request.sizes)
    missing = {name: size for name, size in drawn.free.items() if name not in given}
    unknown = drawn.arena.unknown
    if missing:
        names = "is the dimension" if len(missing) == 1 else f"are the {len(missing)} dimensions"
        st.html(
            f'<div class="empty"><h2>How large {names} this model leaves open?</h2>'
            f"<p>{len(unknown)} of its tensors have no known size until then; a total without them"
            " would be too small, so none is shown.</p></div>"
        )
        with st.container(key="free-sizes", horizontal=True, vertical_alignment="bottom"):
            sizes = sizes_inputs(missing, key="ask", width=150)
            st.button(
                "Plan with these sizes",
                type="primary",
                key="bind",
                on_click=partial(bind, {**given, **sizes}),
            )
    else:
        show_message(
            f"{counted(len(unknown), 'tensor has', 'tensors have')} no known size, and no"
            " dimension that could be given one; memory cannot be planned.",
            key="unknown-sizes",
        )
    with st.expander(f"{counted(len(unknown), 'tensor')} of unknown size"):
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
