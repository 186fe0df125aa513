"""What browser tests of the studio wait for, and what they say when it does not come."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError

PATIENCE_MS = 180_000
"""Long, for conditions alone: a busy machine is slow, not wrong."""
POLLING_MS = 50
"""Asked in every frame, as Playwright does otherwise, the browser makes frames to be asked in."""


def visitor(browser: Browser, **options: Any) -> BrowserContext:
    """A visitor of their own, to be closed, whose pages wait longer than Playwright's 30 s."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    return context


def state(page: Page) -> dict[str, Any]:
    """What the viewer says of itself."""
    return page.evaluate("window.__passlens")


def wait(page: Page, condition: str) -> None:
    """Until the viewer is drawn and a condition holds.

    Raises:
        AssertionError: it never does; with the viewer's state and all text on the page.
    """
    try:
        page.wait_for_function(
            f"window.__passlens?.ready && ({condition})", polling=POLLING_MS, timeout=PATIENCE_MS
        )
    except TimeoutError:
        seen = page.evaluate("[location.href, window.__passlens, document.body.innerText]")
        raise AssertionError(f"{condition} never held: {seen}") from None


def wait_for_all(page: Page) -> None:
    """Until all of a page is there, not the viewer alone: what Tab goes through, above all."""
    page.locator(".stApp[data-test-script-state=notRunning] .bar-share").wait_for()


def opened(page: Page, url: str, condition: str = "true") -> dict[str, Any]:
    """Go to a page and wait for its viewer; the viewer's state then."""
    page.goto(url)
    wait(page, condition)
    return state(page)
