"""A server for the viewer's tests, and the viewer opened on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

sys.path.insert(0, str(Path(__file__).parent))

from viewer_server import serving

from tests.studio.browsing import PATIENCE_MS


@pytest.fixture(scope="session")
def address() -> Generator[str]:
    """Where the harness answers."""
    with serving() as url:
        yield url


@pytest.fixture
def opened(browser: Browser, address: str) -> Generator[Callable[..., Page]]:
    """Open the viewer on a fixture and wait for its picture; console errors fail the test."""
    pages: list[Page] = []
    problems: list[str] = []

    def open_viewer(query: str, *, reduced: bool = False) -> Page:
        page = browser.new_page(
            viewport={"width": 1280, "height": 800},
            reduced_motion="reduce" if reduced else "no-preference",
        )
        page.set_default_timeout(PATIENCE_MS)
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{address}/?{query}")
        page.wait_for_function("window.__passlens?.ready === true")
        page.evaluate("shadow.querySelector('.pl-root').focus()")
        return page

    yield open_viewer
    for page in pages:
        page.close()
    assert problems == []
