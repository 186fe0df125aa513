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


def switch_to(page: Page, name: str) -> None:
    """What other passes make of the same network takes the place of what was shown."""
    page.evaluate(f"update({{ steps: {{ key: '{name}', url: '/steps/{name}.json' }} }})")
    page.wait_for_function("__passlens.ready && __passlens.resting")


def test_whoever_has_looked_nowhere_else_sees_the_top_of_both_panes_with_other_passes(
    opened: Opened,
) -> None:
    page = opened("fixture=tour-none&overview")
    frame = page.locator(".pl-pane > canvas").first.bounding_box()
    assert frame is not None
    for name in ("tour-portable", "tour-none"):
        switch_to(page, name)
        before, after = (where(page, "i0", pane) for pane in (0, 1))
        assert frame["y"] < before["y"] < frame["y"] + 60
        assert frame["x"] <= before["x"]
        assert after["y"] == pytest.approx(before["y"], abs=1)


NEAREST = """() => {
  const r = shadow.querySelectorAll(".pl-pane > canvas")[1].getBoundingClientRect();
  const far = (b) => Math.hypot(b.x + b.width / 2 - r.x - r.width / 2, b.y - r.y - r.height / 2);
  const ids = Array.from({ length: 200 }, (_, i) => `n${i}`);
  const boxes = ids.map((id) => ({ id, ...__passlensWhere(id, 1) }));
  const seen = boxes.filter((box) => box.kind === "node");
  return seen.sort((a, b) => far(a) - far(b));
}"""


def test_what_stands_in_the_middle_stays_there_when_passes_are_switched(opened: Opened) -> None:
    page = opened("fixture=tour-portable&step=53")
    frame = page.locator(".pl-pane > canvas").last.bounding_box()
    assert frame is not None
    page.mouse.move(frame["x"] + 100, frame["y"] + 100)
    page.mouse.wheel(0, 900)
    page.wait_for_function("__passlens.resting")
    before = {box["id"]: box for box in page.evaluate(NEAREST)}
    switch_to(page, "tour-none")
    after = {box["id"]: box for box in page.evaluate(NEAREST)}
    stays = next(ident for ident in before if ident in after)
    assert after[stays]["x"] == pytest.approx(before[stays]["x"], abs=12)  # it may be wider
    assert after[stays]["y"] == pytest.approx(before[stays]["y"], abs=2)
