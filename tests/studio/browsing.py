"""What browser tests of the studio wait for, and what they say when it does not come."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, TimeoutError

PATIENCE_MS = 180_000
"""Long, for conditions alone: a busy machine is slow, not wrong."""


def state(page: Page) -> dict[str, Any]:
    """What the viewer says of itself."""
    return page.evaluate("window.__passlens")


def wait(page: Page, condition: str) -> None:
    """Until the viewer is drawn and a condition holds.

    Raises:
        AssertionError: it never does; with the viewer's state and all text on the page.
    """
    try:
        page.wait_for_function(f"window.__passlens?.ready && ({condition})", timeout=PATIENCE_MS)
    except TimeoutError:
        seen = page.evaluate("[location.href, window.__passlens, document.body.innerText]")
        raise AssertionError(f"{condition} never held: {seen}") from None


def opened(page: Page, url: str, condition: str = "true") -> dict[str, Any]:
    """Go to a page and wait for its viewer; the viewer's state then."""
    page.goto(url)
    wait(page, condition)
    return state(page)
