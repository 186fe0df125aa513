"""The graph workbench: one Streamlit component that owns panes, passes, step card and scrubber.

Streamlit carries a descriptor of about one kilobyte; the browser fetches graph and trace itself.
The code is plain ES modules, served under `/viewer/<content hash>/` and cached for good.

In `app.py`:   `app = st.App("main.py", routes=[*asset_routes(), ...])`
In a page:     `passlens_viewer({"seq": 1, "mode": "model", "graph": {...}}, key="viewer")`

What the user does comes back in `st.session_state[key]`: the states `view` and `event`, and the
triggers `pipeline`, `veto`, `unveto` and `cancel`, each of which lives for one run of the script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from streamlit.components.v2 import component

from studio.viewer.assets_route import asset_routes, asset_version

__all__ = ["Event", "asset_routes", "asset_version", "passlens_viewer"]

Event = Literal["view", "event", "pipeline", "veto", "unveto", "cancel"]
"""The user looked elsewhere; a film went to another event, `{"film": key, "event": number}`; a
pass, a family or a preset was switched; a rewrite was vetoed, or is allowed again; the work under
way should stop."""

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
    on: Mapping[Event, Callable[[], None]] = MappingProxyType({}),
) -> None:
    """Show the workbench; it fills the height that the window has left.

    Args:
        descriptor: what to show, as `Descriptor` in `assets/types.js` has it. Small: graphs and
            traces are named by key and address.
        key: the widget's key; the same on every run, or the component starts afresh.
        on: what is called before the script runs again because of an event.
    """
    # Streamlit keeps a state only where a callback stands for it.
    heard = {f"on_{event}_change": on.get(event, lambda: None) for event in get_args(Event)}
    _component()(key=key, data=dict(descriptor), **heard)


def _component() -> Callable[..., Mapping[str, Any]]:
    js = _STUB.replace("VERSION", asset_version())
    return cast(
        "Callable[..., Mapping[str, Any]]",
        component("passlens_viewer", html=_HTML, js=js),
    )
