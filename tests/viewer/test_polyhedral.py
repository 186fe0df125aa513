"""Points of a nest, drawn and gone through, as the page Schedule has them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from optimizer.polyhedral.picture import polyhedral_view
from optimizer.polyhedral.view import POLYHEDRAL_VIEW
from optimizer.schedules.examples import EXAMPLES
from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.browser

SHOW = """async ({ points }) => {
  const { PointsView } = await import("/viewer/test/polyhedral/points-view.js");
  const home = document.createElement("div");
  document.body.replaceChildren(home);
  window.view = new PointsView(home);
  window.view.update(points);
}"""


@pytest.fixture
def page(browser: Browser, address: str) -> Page:
    """A page that shows the tiles of a blur."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{address}/?fixture=folding")
    one = EXAMPLES["blur"]
    view = polyhedral_view(one.algorithm, one.schedule("tiled").primitives)
    points: dict[str, Any] = {**POLYHEDRAL_VIEW.to_json(view), "title": "<b>blur</b>"}
    page.evaluate(SHOW, {"points": points})
    return page


def fills(page: Page) -> list[int]:
    """How many points of each stage have run."""
    return page.evaluate(
        """() => window.view.drawing.panels.map(({ dots, theme }) =>
      [...dots.values()].filter((dot) => dot.getAttribute("fill") !== theme.bg).length)"""
    )


def test_keys_go_through_the_order_and_play_it(page: Page) -> None:
    page.get_by_role("group", name="Points").focus()
    page.keyboard.press("Home")
    assert fills(page) == [1, 0]
    # A tile of 6 rows and 4 columns of the first stage, and then one of 4 × 4 of the second.
    for _ in range(24):
        page.keyboard.press("ArrowRight")
    assert fills(page) == [24, 1]
    expect(page.get_by_text("25 of 608: blur_y at y 0, x 0")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause (space)")).to_be_visible()
    slider = page.get_by_role("slider", name="Point of the order")
    expect(slider).not_to_have_value("24")  # it plays, however slowly we look
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Play (space)")).to_be_visible()
    page.keyboard.press("End")
    assert fills(page) == [17 * 16, 15 * 16]


def test_the_points_that_are_read_are_marked_and_those_that_ran_twice(page: Page) -> None:
    page.get_by_label("Point of the order").fill("24")
    rings = """() => {
      const { dots, theme } = window.view.drawing.panels[0];
      const has = ([, dot]) => dot.getAttribute("stroke") === theme.NAME;
      return [...dots].filter(has).map(([key]) => key);
    }"""
    assert page.evaluate(rings.replace("NAME", "add")) == ["0,0", "1,0", "2,0"]
    page.keyboard.press("End")
    assert len(page.evaluate(rings.replace("NAME", "change"))) == 3 * 2 * 16


def test_the_drawing_is_saved_with_its_colours_and_a_title_that_is_text(page: Page) -> None:
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    text = download.value.path().read_text()
    assert "<title>Order of the points: &lt;b&gt;blur&lt;/b&gt;</title>" in text
    assert text.count("<circle") == 17 * 16 + 15 * 16
    assert 'font-family="' in text
