"""Node times as colours: offered after a profile, in both panes, never counted twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page
from viewer_scripts import rested

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
BUTTON = "Times of nodes as colours (t)"

PICTURES = """() => [...shadow.querySelectorAll(".pl-pane > canvas")].map((c) => c.toDataURL())"""

TIMES = """async () => {
  const { NodeTimes } = await import("/viewer/test/overlays/node-times.js");
  const { microseconds } = await import("/viewer/test/page/numbers.js");
  const times = new NodeTimes({ profiles: [
    { step: 0, label: "source", kernels: [[9, 4, "Conv", ["a"]], [5, 2, "Relu", ["b"]]] },
    { step: 6, label: "last", kernels: [[3, 1, "FusedConv", ["a", "c"]]] },
  ] });
  const alive = [1, 1, 1], at = (step) => ({
    folds: 0, beforeCursor: { step, alive }, afterCursor: { step, alive },
    union: { recs: [{ id: "a" }, { id: "b" }, { id: "c" }], slotOf: [0, 1, 2] },
    tree: { around: () => [{ at: 0, parent: null }] },
  }), session = at(6);
  const of = (id, step) => times.values(at(step), "after")({ rec: { id } })?.amount ?? null;
  const value = times.values(session, "after");
  const group = value({ group: { at: 0 } });
  return {
    near: [of("a", 1), of("a", 5), of("b", 6), of("c", 0), of("z", 0)],
    group: group.amount, groupText: times.text(group),
    text: times.text(value({ rec: { id: "c" } })),
    none: value({ rec: { id: "z" } }), most: times.most,
    taken: [[null], [1.234], [1.2, null, 2]].map((each) => new NodeTimes({ profiles: each.map(
      (us) => ({ step: 0, label: "", kernels: [], profiler_us: us })) }).takenOff),
    untold: times.takenOff, words: [2.34, 123.4, 5678].map(microseconds),
  };
}"""


def offer(page: Page, key: str = "t1") -> None:
    """What Python sends once a profile was made."""
    page.evaluate(
        f"update({{ overlays: {{ node_times: {{ key: '{key}', url: '/times/cnn8.json' }} }} }})"
    )
    page.get_by_role("button", name=BUTTON).wait_for()


def test_without_a_profile_nothing_is_offered(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    assert page.get_by_role("button", name=BUTTON).count() == 0
    page.keyboard.press("t")
    assert not page.locator(".pl-numbers").is_visible()


def test_key_and_button_colour_both_panes_by_time(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    offer(page)
    plain = page.evaluate(PICTURES)
    assert len(plain) == 2
    page.locator(".pl-root").focus()
    page.keyboard.press("t")
    page.locator(".pl-numbers").wait_for()
    assert "1 ms" in page.locator(".pl-numbers").inner_text()
    rested(page)
    assert all(a != b for a, b in zip(plain, page.evaluate(PICTURES), strict=True))
    page.get_by_role("button", name="first run").click()
    assert "2 ms" in page.locator(".pl-numbers").inner_text()
    page.get_by_role("button", name=BUTTON).click()
    assert not page.locator(".pl-numbers").is_visible()
    rested(page)
    assert page.evaluate(PICTURES) == plain


def test_the_panel_of_a_node_says_its_times_before_and_after(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    offer(page)
    page.keyboard.press("/")
    page.locator(".pl-search input").fill("Gemm")
    page.keyboard.press("Enter")
    text = page.locator(".pl-details").inner_text()
    assert "1 ms, first run 2 ms" in text
    assert "5 µs, first run 10 µs" in text
    assert "nodes)" in text


def test_a_model_alone_needs_times_of_the_source(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=model")
    offer(page)
    page.locator(".pl-root").focus()
    page.keyboard.press("t")
    page.locator(".pl-numbers").wait_for()
    page.evaluate("update({ overlays: {} })")
    page.get_by_role("button", name=BUTTON).wait_for(state="hidden")
    assert not page.locator(".pl-numbers").is_visible()


def test_times_are_of_the_nearest_profile_and_count_once_in_a_group(opened: Opened) -> None:
    found: dict[str, Any] = opened("fixture=cnn8").evaluate(TIMES)
    assert found["near"] == [4, 1, 2, 1, None]
    assert found["group"] == 3
    assert found["groupText"] == "3 µs in its operators"
    assert found["text"] == "1 µs, one FusedConv for 2 nodes, measured as last"
    assert (found["none"], found["most"]) == (None, 4)
    assert found["words"] == ["2.34 µs", "123 µs", "5.68 ms"]
    assert found["taken"] == [
        "profiler: not taken off",
        "profiler: −1.2 µs a node, measured here",
        "profiler: −1.2 to 2 µs a node, measured here",
    ]
    assert found["untold"] == "profiler: not taken off"
