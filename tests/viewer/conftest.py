"""A server for the viewer's tests, and the viewer opened on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

sys.path.insert(0, str(Path(__file__).parent))

from viewer_server import serving

from tests.studio.browsing import PATIENCE_MS

SIZE: ViewportSize = {"width": 1280, "height": 800}


@pytest.fixture(scope="session")
def address() -> Generator[str]:
    """Where the harness answers."""
    with serving() as url:
        yield url


@dataclass(slots=True)
class Tabs:
    """One page that tests open again and again, so that modules are fetched and compiled once.

    Whoever needs more pages at a time, or one that is told to hold still, gets new ones.
    """

    browser: Browser
    problems: list[str] = field(default_factory=list[str])
    kept: Page | None = None
    lent: list[Page] = field(default_factory=list[Page])

    def lend(self, *, reduced: bool) -> Page:
        """A page that nobody has; its errors are among the problems."""
        if reduced or self.kept is None or self.kept in self.lent:
            page = self._new(reduced=reduced)
            if not reduced and self.kept is None:
                self.kept = page
        else:
            page = self.kept
        self.lent.append(page)
        return page

    def _new(self, *, reduced: bool) -> Page:
        motion = "reduce" if reduced else "no-preference"
        page = self.browser.new_page(viewport=SIZE, reduced_motion=motion)
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        return page

    def take_back(self) -> list[str]:
        """The problems since the last time; the pointer is where a new page has it, on nothing."""
        for page in self.lent:
            if page is not self.kept:
                page.close()
            elif page.viewport_size != SIZE:
                page.set_viewport_size(SIZE)
        if self.kept in self.lent:
            self.kept.mouse.move(0, 0)
        self.lent.clear()
        told, self.problems = self.problems, []
        return told


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    """The pages of all tests of the viewer."""
    return Tabs(browser)


@pytest.fixture
def opened(tabs: Tabs, address: str) -> Generator[Callable[..., Page]]:
    """Open the viewer on a fixture and wait for its picture; console errors fail the test."""

    def open_viewer(query: str, *, reduced: bool = False) -> Page:
        page = tabs.lend(reduced=reduced)
        page.goto(f"{address}/?{query}")
        page.wait_for_function("window.__passlens?.ready === true")
        page.evaluate("shadow.querySelector('.pl-root').focus()")
        return page

    yield open_viewer
    assert tabs.take_back() == []
