"""A group is a thing: it is selected, says what became of it, and folds at a touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
BLOCK = "/layer1/block.0"
IN_BLOCK = [3, 4, 21]
"""Steps that touch a node of it: two BatchNormalizations, one Relu."""


def where(page: Page, ident: str) -> dict[str, Any]:
    """Where a box is drawn in the right pane, in pixels of the page."""
    return page.evaluate("(id) => __passlensWhere(id, 1)", ident)


def title(page: Page, ident: str) -> tuple[float, float]:
    """A point on the title of a group, beside its arrow."""
    box = where(page, ident)
    return box["x"] + min(60, box["width"] / 2), box["y"] + 12


def card(page: Page) -> Locator:
    """The card of the selected group."""
    return page.get_by_role("region", name="Selected group")


def rows(page: Page) -> list[str]:
    """The lines of its table."""
    return [row.replace("\t", " ") for row in card(page).locator("tr").all_inner_texts()]


def test_one_click_on_a_title_says_what_became_of_the_group(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    page.mouse.click(*title(page, BLOCK))
    expect(card(page).get_by_role("heading", name="block.0")).to_be_in_viewport()
    assert where(page, BLOCK)["kind"] == "open"
    expect(card(page)).to_contain_text("7 nodes in the source, 4 after all 29 steps")
    expect(card(page).get_by_role("button", name="Play only these")).to_be_in_viewport()
    shown = rows(page)
    assert [line.split() for line in shown[:2]] == [["source", "step", "29"], ["All", "7", "4"]]
    assert ["Relu", "2", "1"] in [line.split() for line in shown]
    assert ["BatchNormalization", "2", "–"] in [line.split() for line in shown]
    links = card(page).get_by_role("button", name="Go to step")
    assert [int(text) for text in links.all_inner_texts()] == IN_BLOCK
    assert "Conv output has a second consumer" in card(page).inner_text()
    links.first.click()
    page.wait_for_function(f"__passlens.step === {IN_BLOCK[0]}")
    assert ["All", "7", "6", "4"] in [line.split() for line in rows(page)]


def test_only_the_steps_of_a_group_are_played(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0", reduced=True)
    page.mouse.click(*title(page, BLOCK))
    page.evaluate("""() => {
      let report = __passlens;
      window.visited = [report.step];
      Object.defineProperty(window, '__passlens', {
        get: () => report,
        set: (next) => {
          report = next;
          if (visited.at(-1) !== next.step) visited.push(next.step);
        },
      });
    }""")
    page.get_by_label("Playing speed", exact=True).select_option("8")
    page.get_by_role("button", name="Play only these").click()
    page.wait_for_function(f"visited.includes({IN_BLOCK[-1]})")
    expect(page.get_by_role("button", name="Play only these")).to_be_visible()
    assert page.evaluate("visited") == [0, *IN_BLOCK]
    page.keyboard.press("Escape")
    page.keyboard.press(" ")
    page.wait_for_function("__passlens.step === 29")


def test_a_double_click_folds_also_where_the_first_click_moves_the_graph(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=model")
    before = page.evaluate("__passlens.visible")
    page.mouse.dblclick(*title(page, BLOCK))
    page.wait_for_function(f"__passlens.visible < {before}")
    assert where(page, BLOCK)["kind"] == "closed"
    expect(card(page).get_by_role("heading", name="block.0")).to_be_visible()
    page.mouse.dblclick(*title(page, BLOCK))
    page.wait_for_function(f"__passlens.visible === {before}")


def test_keys_select_the_group_around_a_node_and_fold_it(opened: Opened) -> None:
    page = opened("fixture=transformer12&step=0")
    page.evaluate("update({ seq: 2, select: ['n40'] })")
    expect(page.get_by_role("region", name="Selected node")).to_be_visible()
    names: list[str] = []
    for _ in range(3):
        page.keyboard.press("u")
        names.append(card(page).locator(".pl-path").inner_text().removeprefix("Group "))
    assert names[0].startswith(names[1])
    assert names[1].startswith(names[2])
    assert where(page, names[2])["kind"] == "open"
    page.keyboard.press("o")
    page.wait_for_function(f"__passlensWhere('{names[2]}', 1).kind === 'closed'")
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()


def test_a_link_opens_on_the_group_it_names(opened: Opened) -> None:
    page = opened("fixture=transformer12&step=3")
    group = "/encoder/layer.7/attention"
    page.evaluate("(id) => update({ seq: 2, select: [id], step: 3 })", group)
    expect(card(page).locator(".pl-path")).to_have_text(f"Group {group}")
    assert where(page, group) is not None
    page.keyboard.press("o")
    page.wait_for_function("window.__sent.length > 0")
    assert page.evaluate("window.__sent.at(-1)[2].select") == [group]
