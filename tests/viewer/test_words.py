"""What the viewer writes: signs that are explained where they stand, units, nouns that agree."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]


def test_the_signs_of_passes_and_steps_are_explained_where_they_stand(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=3")
    passes = page.get_by_role("region", name="Passes").or_(page.locator(".pl-passes"))
    expect(passes).to_contain_text("= bit-identical   ≈ rounding may differ   ≲ less precise")
    exact = page.get_by_role("img", name="exact: outputs stay bit-identical")
    expect(exact.first).to_have_text("=")
    sign = page.locator(".pl-card").get_by_role("img", name="reassociates: same mathematics")
    expect(sign).to_have_text("≈")
    expect(page.locator(".pl-card .pl-rule")).to_contain_text("reassociates")


def test_work_says_how_it_was_counted(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    page.keyboard.press("Home")
    row = page.locator(".pl-card").get_by_role("rowheader", name="FLOP", exact=True)
    expect(row).to_have_attribute("title", "floating-point operations; a multiply-accumulate is 2")
