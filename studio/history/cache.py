"""What is kept on disk to be fast: its size, and emptying it."""

from __future__ import annotations

import gc

import streamlit as st

from optimizer.isolation import Progress
from optimizer.numbers import bytes_text
from studio.artifacts.contents import CacheUsage, Shrunk, clear, usage
from studio.page.parts import PATIENCE_S, follow, show_error
from studio.recordings.keeper import is_shared
from studio.services import let_go, store, tasks

_COUNTING, _EMPTYING = ("cache", "count"), ("cache", "empty")


def show_cache() -> None:
    """How large it is, what is in it, and a button that empties it."""
    st.subheader("Cache", anchor=False)
    emptying = tasks().get(_EMPTYING)
    if emptying is not None and not emptying.wait(PATIENCE_S):
        follow(emptying, "Emptying")
        return
    counting = tasks().start(_COUNTING, _count)
    if not counting.wait(PATIENCE_S):
        follow(counting, "Counting")
        return
    tasks().drop(_COUNTING)  # counted anew the next time
    if counting.error is not None:
        show_error(counting.error, key="cache")
    elif counting.result is not None:
        _show(counting.result)


def _show(found: CacheUsage) -> None:
    st.caption(
        f"{bytes_text(found.size_bytes)} of {bytes_text(found.limit_bytes)}: models, runs and what"
        " was made of them. It is made again when it is needed."
    )
    with st.popover("What is in it", width="stretch", disabled=not found.kinds):
        st.dataframe(
            {
                "kind": [kind.kind for kind in found.kinds],
                "#": [kind.count for kind in found.kinds],
                "size": [bytes_text(kind.size_bytes) for kind in found.kinds],
            },
            hide_index=True,
        )
        st.caption(f"In {found.folder}")
    if not is_shared():
        st.button(
            "Empty the cache",
            on_click=_start_emptying,
            disabled=not found.kinds,
            width="stretch",
            help="What is open in a browser stays. Recordings are not in the cache.",
        )


def _start_emptying() -> None:
    tasks().drop(_EMPTYING)
    tasks().start(_EMPTYING, _empty)


def _count(*, progress: Progress, cancelled: object) -> CacheUsage:
    progress("counting", 0.0)
    return usage(store().root)


def _empty(*, progress: Progress, cancelled: object) -> Shrunk:
    progress("removing", 0.0)
    let_go()
    gc.collect()  # what nobody holds any more no longer counts as open
    return clear(store().root)
