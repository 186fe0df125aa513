"""The component: algorithm, primitives, nest, meters and slider, drawn by `assets/schedule.js`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from streamlit.components.v2 import component

from studio.viewer import asset_version

KEY = "schedule-lab"

# Several lines on purpose: Streamlit takes a single line with a slash for the path of a file.
_STUB = """
export default async function (component) {
  const url = new URL('viewer/VERSION/schedule.js', document.baseURI);
  const lab = await import(url.href);
  return lab.default(component);
}
"""
_HTML = """
<div data-passlens-schedule></div>
"""


def show_lab(descriptor: Mapping[str, Any]) -> None:
    """Show it; what the visitor does comes back as messages (`studio.viewer.take_messages`).

    Args:
        descriptor: as `Descriptor` in `assets/schedule/types.js` has it.
    """
    js = _STUB.replace("VERSION", asset_version())
    draw = cast(
        "Callable[..., Mapping[str, Any]]", component("passlens_schedule", html=_HTML, js=js)
    )
    draw(key=KEY, data=dict(descriptor), on_messages_change=lambda: None)
