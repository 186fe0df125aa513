"""What one sees first: the top of the graph, readable, the same in both panes, nothing over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
NODE_H = 26  # of a box without a second row, at 100 %


def where(page: Page, ident: str, pane: int) -> dict[str, Any]:
    """Where a box is drawn, in pixels of the page."""
    return page.evaluate("([id, pane]) => __passlensWhere(id, pane)", [ident, pane])


@pytest.mark.parametrize(("width", "step"), [(1280, ""), (1600, ""), (1280, "&step=0")])
def test_both_panes_show_the_first_input_at_the_top(opened: Opened, width: int, step: str) -> None:
    page = opened(f"fixture=wide{step}")
    page.set_viewport_size({"width": width, "height": 800})
    page.keyboard.press("Home")
    page.reload()
    page.wait_for_function("window.__passlens?.ready === true")
    canvases = page.locator(".pl-pane > canvas")
    for pane in (0, 1):
        frame = canvases.nth(pane).bounding_box()
        box = where(page, "i0", pane)
        assert frame is not None
        assert frame["y"] < box["y"] < frame["y"] + 60
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert where(page, "n0", pane)["height"] >= 0.7 * NODE_H
    for ident in ("i0", "n0", "n1"):
        assert where(page, ident, 0)["y"] == pytest.approx(where(page, ident, 1)["y"], abs=1)


def test_nothing_lies_over_the_graph(opened: Opened) -> None:
    page = opened("fixture=wide")
    covered = page.evaluate("""() => [...shadow.querySelectorAll(".pl-pane > canvas")].map((c) => {
      const r = c.getBoundingClientRect();
      let n = 0;
      for (let x = r.left + 2; x < r.right - 2; x += 7)
        for (let y = r.top + 2; y < r.bottom - 2; y += 7)
          if (shadow.elementFromPoint(x, y) !== c) n++;
      return n;
    })""")
    assert covered == [0, 0]
    map_ = page.locator(".pl-minimap canvas")
    assert map_.is_visible()
    was = where(page, "i0", 1)
    frame = map_.bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] - 8)
    assert where(page, "i0", 1)["y"] < was["y"] - 500
