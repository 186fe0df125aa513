"""Search: groups, nodes and steps, however their names are written; and why nothing is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]


def find(page: Page, query: str) -> list[str]:
    """Type into the search; the headings of what it lists."""
    page.keyboard.press("/")
    page.get_by_role("searchbox").fill(query)
    return page.locator(".pl-kinds").all_inner_texts()


def current(page: Page) -> str:
    """The hit one is at."""
    return page.locator(".pl-search [aria-current]").inner_text()


def test_a_dot_and_a_slash_are_one_and_a_whole_name_comes_first(opened: Opened) -> None:
    page = opened("fixture=transformer12&step=0")
    for query in ("encoder.layer.1", "/encoder/layer.1", "Encoder/Layer/1"):
        kinds = find(page, query)
        assert [kind.split()[0] for kind in kinds] == ["Groups", "Nodes", "Steps"]
        page.keyboard.press("Enter")
        expect(page.locator(".pl-groupcard .pl-path")).to_have_text("Group /encoder/layer.1")
    page.keyboard.press("Enter")
    assert "/encoder/layer.1/" in current(page)


def test_steps_are_found_by_number_pass_and_place(opened: Opened) -> None:
    page = opened("fixture=transformer12&step=0")
    find(page, "step 40")
    page.keyboard.press("Enter")
    page.wait_for_function("__passlens.step === 40")
    assert find(page, "fuse gelu layer.7") == ["Steps 1"]
    page.keyboard.press("Enter")
    page.wait_for_function("__passlens.step > 97")
    expect(page.locator(".pl-card h2")).to_have_text("Fuse Gelu")


def test_a_node_of_another_step_says_so_and_leads_there(opened: Opened) -> None:
    page = opened("fixture=transformer12&step=0")
    find(page, "LayerNormalization")
    page.keyboard.press("Enter")
    assert "from step 73" in current(page)
    page.wait_for_function("__passlens.step === 73")
    expect(page.locator(".pl-details h2")).to_have_text("LayerNormalization")
    page.keyboard.press("Escape")
    page.keyboard.press("End")
    find(page, "Erf")
    page.keyboard.press("Enter")
    assert "gone" in current(page)
    page.wait_for_function("__passlens.step === 109")


def test_no_hits_are_explained(opened: Opened) -> None:
    page = opened("fixture=transformer12&step=0")
    none = page.locator(".pl-search").get_by_role("status")
    assert find(page, "encoder.layr.3") == []
    expect(none).to_contain_text("Nothing here holds “layr”.")
    expect(none).to_contain_text("723 nodes")
    expect(none).to_contain_text("109 steps")
    assert find(page, "softmax intermediate") == []
    expect(none).to_contain_text("Nothing holds all of it together")
    find(page, "softmax")
    expect(none).to_be_hidden()


@pytest.mark.parametrize("mode", ["model", "rewrite", "film"])
def test_the_hits_cover_no_part_of_the_graph(opened: Opened, mode: str) -> None:
    page = opened(f"fixture=cnn8&mode={mode}")
    find(page, "conv")
    page.keyboard.press("Enter")
    hits = page.locator(".pl-search").bounding_box()
    assert hits is not None
    for pane in page.locator(".pl-pane > canvas").all():
        box = pane.bounding_box()
        assert box is None or box["x"] + box["width"] <= hits["x"]
    page.keyboard.press("Escape")
    expect(page.locator(".pl-search")).to_be_hidden()
