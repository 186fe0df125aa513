"""The mouse wheel and the touchpad: pan, pinch, step."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from viewer_scripts import rested

pytestmark = pytest.mark.browser

WHEEL = """([selector, change]) => {
  const all = [...shadow.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const el = all[all.length - 1];
  const r = el.getBoundingClientRect();
  const at = { clientX: r.x + r.width / 2, clientY: r.y + r.height / 2 };
  const event = new WheelEvent("wheel", { bubbles: true, cancelable: true, ...at, ...change });
  el.dispatchEvent(event);
  return event.defaultPrevented;
}"""
PANE = ".pl-pane > canvas"
BOX = "n0"


def turn(page: Page, selector: str, **change: object) -> None:
    """Turn the wheel over an element; the page must not hear of it."""
    assert page.evaluate(WHEEL, [selector, change])
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def place(page: Page) -> dict[str, float]:
    """Where the first node is drawn."""
    return page.evaluate(f"__passlensWhere('{BOX}', 1)")


def test_two_fingers_pan_and_a_pinch_zooms(opened: Callable[..., Page]) -> None:
    page = opened("fixture=cnn8&step=0")
    start = place(page)
    turn(page, PANE, deltaX=30, deltaY=40)
    panned = place(page)
    assert panned["x"] == pytest.approx(start["x"] - 30, abs=1)
    assert panned["y"] == pytest.approx(start["y"] - 40, abs=1)
    assert panned["width"] == start["width"]
    for _ in range(10):
        turn(page, PANE, deltaY=-4, ctrlKey=True)
    pinched = place(page)
    assert 1.3 < pinched["width"] / start["width"] < 1.7
    turn(page, PANE, deltaY=120, ctrlKey=True)
    assert 0.6 < place(page)["width"] / pinched["width"] < 0.9


def test_the_wheel_over_the_scrubber_steps_both_ways(opened: Callable[..., Page]) -> None:
    page = opened("fixture=cnn8&step=5")
    turn(page, ".pl-strip canvas", deltaY=120)
    page.wait_for_function("__passlens.step === 8")
    for _ in range(12):
        turn(page, ".pl-strip canvas", deltaY=-4)
    page.wait_for_function("__passlens.step === 7")
    turn(page, ".pl-strip canvas", deltaY=-4000)
    page.wait_for_function("__passlens.step === 0")


def test_one_key_opens_a_large_graph_one_level_at_a_time(opened: Callable[..., Page]) -> None:
    page = opened("fixture=transformer160&step=0")
    seen: list[int] = []
    page.keyboard.press("Shift+E")
    page.wait_for_function("__passlens.visible < 20")
    for _ in range(3):
        seen.append(page.evaluate("__passlens.visible"))
        page.keyboard.press("e")
        rested(page)
    seen.append(page.evaluate("__passlens.visible"))
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]
    assert seen[-1] < page.evaluate("__passlens.total")
    page.keyboard.press("0")
    page.wait_for_function("__passlens.visible <= 150")
