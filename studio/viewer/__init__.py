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
from typing import Any, cast

from streamlit.components.v2 import component

from studio.viewer.assets_route import asset_routes, asset_version
from studio.viewer.descriptor import ViewerData, ViewState

__all__ = ["ViewState", "ViewerData", "asset_routes", "asset_version", "passlens_viewer"]

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
    descriptor: ViewerData | Mapping[str, Any],
    *,
    key: str,
    on_view: Callable[[], None] | None = None,
    on_event: Callable[[], None] | None = None,
    on_pipeline: Callable[[], None] | None = None,
    on_veto: Callable[[], None] | None = None,
    on_unveto: Callable[[], None] | None = None,
    on_cancel: Callable[[], None] | None = None,
) -> ViewState | None:
    """Show the workbench; it fills the height that the window has left.

    Args:
        descriptor: what to show. Small: graphs and traces are named by key and address.
        key: the widget's key; the same on every run, or the component starts afresh.
        on_view: called before the script runs again because the user looked elsewhere.
        on_event: the same for a film, which tells `{"film": key, "event": number}`.
        on_pipeline: a pass, a family or a preset was switched.
        on_veto: one rewrite was vetoed.
        on_unveto: a vetoed rewrite is allowed again.
        on_cancel: the work under way should stop.

    Returns:
        Where the user looks, or None as long as nothing was touched.
    """
    result = _component()(
        key=key,
        data=dict(descriptor),
        on_view_change=on_view or _nothing,
        on_event_change=on_event or _nothing,
        on_pipeline_change=on_pipeline or _nothing,
        on_veto_change=on_veto or _nothing,
        on_unveto_change=on_unveto or _nothing,
        on_cancel_change=on_cancel or _nothing,
    )
    return cast("ViewState | None", result.get("view"))


def _component() -> Callable[..., Mapping[str, Any]]:
    js = _STUB.replace("VERSION", asset_version())
    return cast(
        "Callable[..., Mapping[str, Any]]",
        component("passlens_viewer", html=_HTML, js=js),
    )


def _nothing() -> None:
    """Streamlit keeps a state only where a callback stands for it."""
