"""Pages without a browser: run until they rest, and what they say."""

from __future__ import annotations

import time
from typing import Any

from streamlit.testing.v1 import AppTest

PATIENCE_S = 180
"""Long, for conditions alone: a busy machine is slow, not wrong."""


def settle(app: AppTest) -> AppTest:
    """Look again until nothing is under way."""
    deadline = time.monotonic() + PATIENCE_S
    while any(button.label == "Cancel" for button in app.button) and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    """Everything that is said on the page, without Markdown's escapes."""
    kinds = ("text", "caption", "html", "markdown", "subheader")
    found: list[Any] = [element for kind in kinds for element in app.get(kind)]
    return "\n".join(str(element.value) for element in found).replace("\\", "")
