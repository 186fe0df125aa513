"""The right end of the top bar, in a real browser: the menu of models, and Share."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.studio.browsing import PATIENCE_MS, opened, wait

pytestmark = pytest.mark.browser
REFUSE = """
navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
document.execCommand = () => false;
"""


def at_step(page: Page, url: str, step: int) -> None:
    opened(page, f"{url}/?model=tour&step={step}", f"window.__passlens.step === {step}")
    expect(page.get_by_role("button", name="Share")).to_be_visible(timeout=PATIENCE_MS)


def menu_button(page: Page, title: str) -> None:
    button = page.get_by_role("button", name=f"{title}: open another model")
    expect(button).to_be_visible(timeout=PATIENCE_MS)


def test_share_copies_the_link_of_the_step_one_sees_now(
    context: BrowserContext, page: Page, app_url: str
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    at_step(page, app_url, 5)
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Share").click()  # before the address bar has heard of it
    panel = page.get_by_role("dialog", name="Share")
    expect(panel.get_by_role("status")).to_have_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{app_url}/?model=tour&step=6"
    expect(panel.get_by_role("textbox")).to_have_value(link)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("button", name="Share")).to_be_focused()


def test_where_copying_is_refused_the_link_is_selected(page: Page, app_url: str) -> None:
    page.add_init_script(REFUSE)
    page.goto(f"{app_url}/history?model=tour")
    page.get_by_role("button", name="Share").click(timeout=PATIENCE_MS)
    panel = page.get_by_role("dialog", name="Share")
    expect(panel.get_by_role("status")).to_contain_text("refused")
    field = panel.get_by_role("textbox")
    expect(field).to_be_focused()
    expect(field).to_have_value(f"{app_url}/history?model=tour")
    assert page.evaluate("getSelection().toString()") == f"{app_url}/history?model=tour"


def test_export_is_behind_share(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/history?model=tour")
    page.get_by_role("button", name="Share").click(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Export model").click()
    page.wait_for_url("**/export?model=tour", timeout=PATIENCE_MS)
    expect(page.get_by_role("dialog", name="Share")).to_be_hidden()


def test_the_keyboard_opens_another_model_on_the_same_page(page: Page, app_url: str) -> None:
    at_step(page, app_url, 5)
    page.get_by_role("button", name="Tour: open another model").focus()
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("menuitemradio", name="Tour")
    expect(chosen).to_be_focused()
    expect(chosen).to_have_attribute("aria-checked", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_be_hidden()
    expect(page.get_by_role("button", name="Tour: open another model")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("mam")
    expect(page.get_by_role("menuitemradio", name="Mamba")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/\?model=mamba"), timeout=PATIENCE_MS)
    menu_button(page, "Mamba")
    wait(page, "window.__passlens.total > 500")  # of Mamba, at any step; the tour has fewer


def test_open_a_file_leads_to_where_files_are_chosen(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/history?model=tour")
    page.get_by_role("button", name="Tour: open another model").click(timeout=PATIENCE_MS)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_url("**/model?model=tour", timeout=PATIENCE_MS)
    expect(page.locator(".st-key-chooser button").first).to_be_focused(timeout=PATIENCE_MS)


def test_a_model_opened_in_this_session_stays_in_the_menu_as_text(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    text = f"{head} main (float[2] x) => (float[2] y) {{ y = Relu (x) }}"
    file = tmp_path / "<img src=x onerror=document.title='PWNED'>.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    page.goto(f"{app_url}/model?model=tour")
    page.locator("input[type=file]").first.set_input_files(file)
    page.wait_for_url(re.compile("model=[0-9a-f]{16}"), timeout=PATIENCE_MS)
    link = page.url
    page.locator(".st-key-gallery-tour button").first.click()
    page.wait_for_url("**model=tour**", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Tour: open another model").click(timeout=PATIENCE_MS)
    opened = page.get_by_role("group", name="Opened in this session").get_by_role("menuitemradio")
    expect(opened).to_contain_text("<img src=x")
    expect(opened).to_contain_text("1 node")
    opened.click()
    page.wait_for_url(link, timeout=PATIENCE_MS)
    assert page.title() != "PWNED"
