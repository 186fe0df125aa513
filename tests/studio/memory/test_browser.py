"""The Memory page in a real browser: from a rectangle to its node, and what a link draws."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.browser
LINK = "/memory?model=tour&sizes=batch%3A1%2Cseq%3A16&beside=no"


def test_a_rectangle_leads_to_its_node(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}{LINK}")
    expect(page.get_by_text("Counting every step")).to_have_count(0, timeout=PATIENCE_MS)
    walk = re.compile("^Most alive at once")  # the map is drawn anew once all steps are counted
    expect(page.get_by_text(walk).first).to_be_visible(timeout=PATIENCE_MS)
    bars = page.locator(".js-plotly-plot").first.locator(".barlayer .point path")
    expect(bars.first).to_be_attached(timeout=PATIENCE_MS)
    boxes = [box for box in (bar.bounding_box() for bar in bars.all()) if box is not None]
    largest = max(boxes, key=lambda box: box["width"] * box["height"])
    page.mouse.click(
        largest["x"] + largest["width"] / 2, largest["y"] + largest["height"] / 2, delay=50
    )
    page.wait_for_url(re.compile(r"/(rewrite)?\?.*select=n\d+"), timeout=PATIENCE_MS)


def test_a_link_to_a_section_draws_it(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}{LINK}&memory=planners")
    expect(page.get_by_text("Peak of the activations' arena").first).to_be_visible(
        timeout=PATIENCE_MS
    )
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE_MS)
