"""Why not: near misses by reason, their places marked in the graph and told on the node's card."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.studio.browsing import opened

pytestmark = pytest.mark.browser
REASON = "MatMul is batched (3 dimensions), Gemm takes matrices only"


def test_seventy_two_places_share_one_reason_and_each_has_its_own_name(
    page: Page, app_url: str
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, f"{app_url}/?model=bert&step=40&off=flatten-rows", "__passlens.step === 40")
    page.get_by_role("button", name="declined 72").click()
    reasons = page.locator(".pl-reason")
    expect(reasons).to_have_count(1)
    expect(reasons).to_contain_text(REASON)
    expect(reasons).to_contain_text("72 places")
    expect(page.locator(".pl-place").first).to_be_in_viewport(ratio=1)
    names = page.locator(".pl-place").all_inner_texts()
    assert len(set(names)) == len(names) == 72
    assert "layer.3/key/Add" in names
    page.wait_for_function("__passlens.marked === 72")
    page.get_by_role("button", name="Show layer.3/key/Add in the graph").click()
    card = page.locator(".pl-looked")
    expect(card).to_contain_text("Fuse MatMul and Add into Gemm")
    expect(card).to_contain_text(REASON)
    expect(card).to_contain_text("found no match")
    reasons.click()
    page.wait_for_function("__passlens.marked === 0")
    expect(page.locator(".pl-place")).to_have_count(0)
