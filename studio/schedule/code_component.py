"""The component of *Look inside*, drawn by `assets/code.js`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from streamlit.components.v2 import component

from studio.viewer import asset_version

# Several lines on purpose: Streamlit takes a single line with a slash for the path of a file.
_STUB = """
export default async function (component) {
  const url = new URL('viewer/VERSION/code.js', document.baseURI);
  const code = await import(url.href);
  return code.default(component);
}
"""
_HTML = """
<div data-passlens-code></div>
"""


def show_code(found: Mapping[str, Any]) -> None:
    """Show code, or the difference of two.

    Args:
        found: as `CodeData` or `DifferenceData` in `assets/code/types.js` has it.
    """
    js = _STUB.replace("VERSION", asset_version())
    draw = cast("Callable[..., Mapping[str, Any]]", component("passlens_code", html=_HTML, js=js))
    draw(key="schedule-code", data=dict(found))
