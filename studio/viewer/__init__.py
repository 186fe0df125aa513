"""The graph workbench: one Streamlit component that owns panes, passes, step card and scrubber.

Streamlit carries a descriptor of about one kilobyte; the browser fetches graph and trace itself.
The code is plain ES modules, served under `/viewer/<content hash>/` and cached for good.

In `app.py`:   `app = st.App("main.py", routes=[*asset_routes(), ...])`
In a page:     `passlens_viewer({"seq": 1, "mode": "model", "graph": {...}}, key="viewer")`

What the user does comes back as numbered messages, which `take_messages` hands over: `view` (looked
elsewhere), `pipeline` (a pass, a family or a preset was switched), `veto`, `unveto` (a rewrite is
allowed again), `loops` (of a generated kernel: go to them), `region` (that the source nodes with
these ids are in: go to its loops) and `cancel` (the work under way should stop). The browser tells
each until the descriptor acknowledges its number: a trigger is lost where Streamlit stops its run
before it began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import streamlit as st
from streamlit.components.v2 import component

from studio.viewer.assets_route import asset_routes, asset_version

__all__ = ["acknowledged", "asset_routes", "asset_version", "passlens_viewer", "take_messages"]

# Several lines on purpose: Streamlit takes a single line with a slash for the path of a file.
_STUB = """
export default async function (component) {
  const url = new URL('viewer/VERSION/boot.js', document.baseURI);
  const viewer = await import(url.href);
  return viewer.default(component);
}
"""
_HTML = """
<div data-passlens></div>
"""


def passlens_viewer(
    descriptor: Mapping[str, Any],
    *,
    key: str,
    on_event: Callable[[], None] = lambda: None,
) -> None:
    """Show the workbench; it fills the height that the window has left.

    Args:
        descriptor: what to show, as `Descriptor` in `assets/types.js` has it. Small: graphs and
            traces are named by key and address.
        key: the widget's key; the same on every run, or the component starts afresh.
        on_event: called when a film went to another event, which is the state `event`:
            `{"film": key, "event": number}`.
    """
    _component()(
        key=key,
        data={**descriptor, "acknowledged": acknowledged(key)},
        on_event_change=on_event,
        on_messages_change=lambda: None,  # Streamlit keeps a state only where a callback is
    )


def take_messages(key: str, take: Callable[[str, Any], None]) -> None:
    """Hand over what the user did since the last run of the script, in order.

    Args:
        key: the viewer's.
        take: called with the name and the value of each message. Where Streamlit stops the script
            meanwhile, the next run calls it again: it must not matter.
    """
    told: Mapping[str, Any] = st.session_state.get(key) or {}
    for message in told.get("messages") or ():
        match message:
            case {"number": int(n), "name": str(name), "value": value} if n > acknowledged(key):
                take(name, value)
                st.session_state[f"{key}-acknowledged"] = n
            case _:
                pass


def acknowledged(key: str) -> int:
    """The number of the last message that was handed over."""
    return st.session_state.get(f"{key}-acknowledged", 0)


def _component() -> Callable[..., Mapping[str, Any]]:
    js = _STUB.replace("VERSION", asset_version())
    return cast(
        "Callable[..., Mapping[str, Any]]",
        component("passlens_viewer", html=_HTML, js=js),
    )
