"""The Cost page in the real app and a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.studio.browsing import PATIENCE_MS, wait

pytestmark = pytest.mark.browser


def opened(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.get_by_text("MiB moved, −")).to_be_visible(timeout=PATIENCE_MS)


def test_the_waterfall_on_paper_is_there_at_once_and_a_bar_leads_to_its_step(
    page: Page, app_url: str
) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    opened(page, f"{app_url}/cost?model=tour")
    expect(page.get_by_text("Merge Transpose chains")).to_be_visible()
    box = page.locator(".barlayer .point path").nth(9).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    look = page.get_by_role("button", name=re.compile("^Look at step"))
    expect(look.first).to_be_visible(timeout=PATIENCE_MS)
    step = int((look.first.text_content() or "").rpartition(" ")[2])
    look.first.click()
    wait(page, f"window.__passlens.step === {step}")
    assert errors == []


def test_the_buttons_of_a_plot_leave_its_title_alone(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/cost?model=tour")
    page.locator(".js-plotly-plot").first.hover()
    buttons = page.locator(".modebar").first
    expect(buttons).to_be_visible()
    above, below = page.locator(".gtitle").first.bounding_box(), buttons.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]


def test_leaving_passes_out_is_shown_with_the_interactions(page: Page, app_url: str) -> None:
    passes = "eliminate-identity,eliminate-noop-cast"
    page.goto(f"{app_url}/cost?model=tour&preset=none&on={passes}&count=nodes")
    page.get_by_text("Ablation", exact=True).click()
    page.get_by_role("button", name="Leave out one by one").click()
    expect(page.get_by_text("is missed most")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("No pass changes how often another one fires.")).to_be_visible()


def test_a_model_without_rewrites_says_so(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/cost?model=tour&preset=none")
    expect(page.get_by_text("there is nothing to explain")).to_be_visible(timeout=PATIENCE_MS)
