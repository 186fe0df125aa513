"""The strip of steps: what touches a selection is lit; thousands of bars stay readable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
CROWDED = "fixture=transformer40&step=300"
STRIP = ".pl-scrub .pl-strip canvas"
# Steps at whose bars something is drawn in the accent's blue at the top, the cursor's dot aside.
MARKED = """() => {
  const strip = shadow.querySelector(".pl-scrub .pl-strip canvas");
  const { data } = strip.getContext("2d").getImageData(0, 1, strip.width, 1);
  const steps = new Set(), at = (step) => (step / 29) * strip.width;
  for (let x = 0; x < strip.width; x++)
    if (Math.abs(x - at(__passlens.step)) > 8 && data[4 * x + 3] > 200 && data[4 * x + 2] > 180)
      steps.add(Math.ceil(((x + 0.5) / strip.width) * 29));
  return [...steps];
}"""
BARS = """async ([deltas, each]) => {
  const { makeBars, scaleOf } = await import("/viewer/test/scrubber/bars.js");
  const steps = deltas.map((nodes, i) => ({ n: i + 1, pass: 0, delta: { nodes } }));
  const bars = makeBars(steps, each, (step) => -step.delta.nodes);
  const scale = scaleOf(bars);
  return bars.map((bar) => ({ ...bar, ...scale(bar.saving) }));
}"""


def strip(page: Page) -> dict[str, float]:
    """Which steps the strip shows, and how many stand in one bar."""
    return page.evaluate("__passlens.strip")


def point(page: Page, share: float) -> None:
    """Put the mouse on the strip."""
    box = page.locator(STRIP).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)


def test_the_steps_of_a_selected_node_are_lit_and_walked(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    assert page.evaluate(MARKED) == []
    page.evaluate("update({ seq: 2, select: ['n3'], step: 29 })")
    touched = page.get_by_role("region", name="Selected node").locator(".pl-touch .pl-link")
    steps = [int(text) for text in touched.all_inner_texts()]
    assert steps == [3, 21]
    page.wait_for_function(f"({MARKED})().length > 0")
    marked = page.evaluate(MARKED)
    assert set(steps) <= set(marked)
    assert all(min(abs(m - s) for s in steps) <= 1 for m in marked)
    for key, step in ((",", 21), (",", 3), (",", 3), (".", 21), (".", 21)):
        page.keyboard.press(key)
        page.wait_for_function(f"__passlens.step === {step}")
    expect(page.get_by_role("button", name="Next step that touches it")).to_be_disabled()
    page.get_by_role("button", name="Previous step that touches it").click()
    page.wait_for_function("__passlens.step === 3")
    page.keyboard.press("Escape")
    page.wait_for_function(f"({MARKED})().length === 0")


def test_hundreds_of_steps_stand_in_bars_of_several_and_the_wheel_zooms(opened: Opened) -> None:
    page = opened(CROWDED)
    whole = strip(page)
    assert whole["from"] == 0
    assert whole["to"] == page.evaluate("+shadow.querySelector('[role=slider]').ariaValueMax")
    assert whole["each"] > 1
    point(page, 0.5)
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text(" to ")
    for _ in range(10):
        page.mouse.wheel(0, -200)
    page.wait_for_function("__passlens.strip.each === 1")
    part = strip(page)
    middle = whole["to"] / 2
    assert part["from"] < middle < part["to"]
    assert page.evaluate("__passlens.step") == 300
    point(page, 0.52)
    expect(tip).not_to_contain_text(" to ")
    page.mouse.click(**page.locator(STRIP).evaluate(
        "(el) => { const r = el.getBoundingClientRect();"
        " return { x: r.x + r.width / 2, y: r.y + 30 }; }"
    ))  # fmt: skip
    page.wait_for_function(f"Math.abs(__passlens.step - {middle}) <= 2")
    page.keyboard.press("Home")
    page.wait_for_function("__passlens.strip.from === 0 && __passlens.strip.to < 200")
    page.mouse.wheel(100, 0)
    page.wait_for_function("__passlens.strip.from > 0")
    page.locator(STRIP).dblclick()
    page.wait_for_function(f"__passlens.strip.to === {whole['to']}")


def bars(page: Page, deltas: list[int], each: int = 1) -> list[dict[str, Any]]:
    """The bars of steps that change so many nodes each."""
    return page.evaluate(BARS, [deltas, each])


def test_one_spike_does_not_flatten_the_other_bars(opened: Opened) -> None:
    page = opened("fixture=cnn4")
    spike = bars(page, [-1] * 40 + [-900] + [-4] * 40)
    assert [bar["cut"] for bar in spike] == [False] * 40 + [True] + [False] * 40
    assert spike[40]["share"] == 1
    assert spike[-1]["share"] == pytest.approx(0.72)
    assert spike[0]["share"] == pytest.approx(0.36)
    even = bars(page, [-1, -4, -9])
    assert [bar["share"] for bar in even] == pytest.approx([1 / 3, 2 / 3, 1])
    assert not any(bar["cut"] for bar in even)


def test_a_bar_of_several_steps_is_as_high_as_all_of_them_together(opened: Opened) -> None:
    page = opened("fixture=cnn4")
    shown = bars(page, [-1, -1, 3, -5, 0, 0, -2], each=2)
    assert [(b["from"], b["to"], b["saving"]) for b in shown] == [
        (0, 2, 2), (2, 4, 2), (4, 6, 0), (6, 7, 2),
    ]  # fmt: skip
