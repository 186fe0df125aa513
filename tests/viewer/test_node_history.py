"""What a trace says of single nodes: silent updates, where removed ones went, what is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page
from viewer_scripts import SESSION, rested

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

MARK = """([step, id]) => {
  session.goto(step, "source");
  const o = session.union.index.get(id), slot = session.union.slotOf[o];
  const rec = session.history.record(o, step);
  const box = session.picture("after").byKey.get(slot);
  return { mark: session.marks("after").get(slot)?.mark ?? null, rows: rec.rows ?? [],
           reads: rec.in.map((port) => port[1]), shape: rec.out[0][3],
           fits: box.w <= session.layout.slotWidth(slot) };
}"""


def count(page: Page) -> dict[str, Any]:
    """What the viewer says it shows."""
    return page.evaluate("window.__passlens")


def test_an_update_replaces_the_record_without_a_mark_and_is_undone(opened: Opened) -> None:
    page = opened("fixture=folding")
    page.evaluate(SESSION, "folding")
    relu = [page.evaluate(MARK, [step, "n4"]) for step in (1, 2, 1)]
    assert [found["reads"] for found in relu] == [["n3_out"], ["sum"], ["n3_out"]]
    add = [page.evaluate(MARK, [step, "n2"]) for step in (0, 1, 0)]
    assert [found["rows"] for found in add] == [[], ["B 1×4096×4096"], []]
    assert [found["shape"] for found in add] == ["", "1×8", ""]
    assert {found["mark"] for found in (*relu, *add)} == {None}
    assert all(found["fits"] for found in (*relu, *add))


def test_details_follow_an_update(opened: Opened) -> None:
    page = opened("fixture=folding&step=1")
    page.evaluate("update({ seq: 2, select: ['n4'] })")
    assert "n3_out" in page.locator(".pl-tensors").first.inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("__passlens.step === 2")
    assert "sum" in page.locator(".pl-tensors").first.inner_text()
    assert "Changed" not in page.locator(".pl-life").inner_text()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("__passlens.step === 1")
    assert "n3_out" in page.locator(".pl-tensors").first.inner_text()


@pytest.mark.parametrize("node", ["n1", "n0"])
def test_folded_nodes_say_so_inside_the_pattern_too(opened: Opened, node: str) -> None:
    page = opened("fixture=folding&step=0")
    page.evaluate(f"update({{ seq: 2, select: ['{node}'] }})")
    assert "Folded into a constant at" in page.locator(".pl-life").inner_text()


def test_a_bypassed_node_names_what_its_readers_take(opened: Opened) -> None:
    page = opened("fixture=folding&step=0")
    page.evaluate("update({ seq: 2, select: ['n3'] })")
    life = page.locator(".pl-life")
    assert "Removed, its readers take" in life.inner_text()
    assert life.locator(".pl-chip").inner_text() == "Add"


@pytest.mark.parametrize("name", ["cnn8", "transformer12", "hostile"])
def test_visible_counts_nodes_of_the_after_pane_alone(opened: Opened, name: str) -> None:
    page = opened(f"fixture={name}&step=0", reduced=True)
    page.keyboard.press("Shift+E")
    page.wait_for_function("__passlens.visible < __passlens.total")
    page.keyboard.press("e")
    page.wait_for_function("__passlens.visible === __passlens.total")
    assert count(page)["total"] == len(
        page.evaluate(f"fetch('/graph/{name}.json').then((r) => r.json()).then((g) => g.nodes)")
    )
    for pane in "231":
        page.keyboard.press(pane)
        for key in ("End", "Home", "ArrowRight"):
            page.keyboard.press(key)
            rested(page)
            assert count(page)["visible"] == count(page)["total"]


def test_the_verdict_stands_once_below_the_passes_or_in_the_card(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=3")
    assert page.locator(".pl-verdict").count() == 0
    for verdict, sign in (("running", "…"), ("equal", "✓"), ("differs", "≠"), ("not_run", "–")):
        page.evaluate(f"update({{ verified: {{ verdict: '{verdict}', text: 'In words.' }} }})")
        page.locator(f".pl-passes [data-verdict={verdict}]").wait_for()
        for place in (".pl-passes", ".pl-card"):
            line = page.locator(".pl-verdict:visible")
            assert line.count() == 1
            assert line.inner_text().split() == [sign, "In", "words."]
            assert page.locator(f"{place} .pl-verdict").is_visible()
            page.keyboard.press("p")


def test_the_link_of_a_step_carries_what_the_viewer_knows(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=3")
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: (text) =>"
        " { window.copied = text; return Promise.resolve(); } } })"
    )
    page.evaluate("update({ seq: 2, step: 4, select: ['n4'], open: ['-/layer1/block.0'] })")
    page.wait_for_function("__passlens.step === 4")
    page.get_by_role("button", name="previous", exact=True).click()
    link = page.get_by_role("button", name="Copy a link to this step")
    link.click()
    page.wait_for_function("window.copied")
    query = dict(page.evaluate("[...new URL(copied).searchParams]"))
    assert query["fixture"] == "cnn8"
    assert (query["step"], query["before"], query["select"]) == ("4", "previous", "n4")
    assert query["open"] == "-/layer1/block.0"
    assert link.inner_text() == "Copied"
    link.click()
    link.filter(has_text="Copy link").wait_for()
