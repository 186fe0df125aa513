"""The Run page in a real browser: races, live, cancelled, reloaded, broken."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import onnx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.studio.browsing import PATIENCE_MS, opened, visitor, wait, wait_for_all
from tests.studio.conftest import RunningStudio

pytestmark = pytest.mark.browser

PLAIN = "section=capture"
"""The section with the least to draw, for what is about the sidebar: that is the same in all."""


def wait_for(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE_MS)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click(timeout=PATIENCE_MS)


def test_a_race_says_its_finding_and_survives_a_reload(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?model=tour&race=source%2C20&seconds=2")
    wait_for(page, re.compile("^Deployed: .*up to 1 s of steady running"))
    press(page, "Race")
    wait_for(page, "Run again")
    finding = re.compile("^Step 20, deployed: .+; bare: .+")
    wait_for(page, finding)
    wait_for(page, re.compile("^Bare: the file itself"))
    wait_for(page, "Speedup against source")
    wait_for(page, "Why one tool says 0.0025 s")
    page.reload()
    wait_for(page, finding)
    assert "race=source%2C20" in page.url


def test_a_race_under_way_is_found_by_a_reload_and_by_another_browser(
    browser: Browser, page: Page, app_url: str, tmp_path: Path
) -> None:
    other = visitor(browser)
    first, second = page, other.new_page()
    opened(first, f"{app_url}/model?model=tour")
    first.locator("input[type=file]").first.set_input_files(slow_model(tmp_path))
    wait(first, "window.__passlens.total === 3")
    model = parse_qs(urlsplit(first.url).query)["model"][0]
    link = f"{app_url}/run?model={model}&race=source%2Clast&seconds=120&as=bare"
    first.goto(link)
    press(first, "Race")
    wait_for(first, re.compile("Race: "))
    first.reload()
    second.goto(link)
    for each in (first, second):
        wait_for(each, re.compile("Race: .*(round|left)"))
        expect(each.get_by_role("button", name="Cancel")).to_be_visible(timeout=PATIENCE_MS)
    wait_for(second, "So far, after")
    press(second, "Cancel")
    for each in (first, second):
        wait_for(each, "Cancelled: what follows is incomplete.")
        wait_for(each, re.compile("^Stopped after [0-9]+ rounds"))
    other.close()


def slow_model(folder: Path) -> Path:
    """A race of it takes half a minute before it has enough runs to know anything for sure."""
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> main (float[1200,1200] x) => '
        "(float[1200,1200] y) { a = Identity (x) b = MatMul (a, x) y = MatMul (b, x) }"
    )
    path = folder / "slow.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


@pytest.mark.slow
def test_a_killed_worker_leaves_the_others_their_results(page: Page, studio: RunningStudio) -> None:
    page.goto(f"{studio.url}/run?model=tour&race=source%2C30%2Clast&seconds=8&as=bare")
    press(page, "Race")
    wait_for(page, "So far, after")
    os.kill(studio.race_workers()[0], signal.SIGKILL)
    wait_for(page, "Run again")
    wait_for(page, re.compile("died of SIGKILL|was gone|was ended from outside"))
    wait_for(page, re.compile("^(Best of 2|Default preset|Step 30): "))
    page.get_by_role("navigation").get_by_role("link", name="Rewrite", exact=True).click()
    wait(page, "window.__passlens.step > 50")


@pytest.mark.slow
def test_a_sweep_draws_latency_and_throughput(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?model=tour&race=source%2C22&seconds=2&as=bare")
    page.get_by_text("Several sizes").click(timeout=PATIENCE_MS)
    sizes = page.get_by_role("textbox", name="Sizes")
    sizes.fill("1, 3", timeout=PATIENCE_MS)
    sizes.press("Enter")
    page.wait_for_url(re.compile("sweep=batch%3A1%2C3"), timeout=PATIENCE_MS)
    press(page, "Sweep")
    wait_for(page, "Run again")
    wait_for(page, re.compile("^Step 22 against source: .* at batch 1"))
    wait_for(page, re.compile("^Most throughput: "))


def test_variants_are_added_varied_and_removed_and_are_in_the_link(
    page: Page, app_url: str
) -> None:
    page.goto(f"{app_url}/run?model=tour&{PLAIN}")
    press(page, "Add")
    page.wait_for_url(re.compile("race=source%2Clast%2Clast"), timeout=PATIENCE_MS)
    wait_for_all(page)  # a popover that opens while the page is drawn anew may close again
    page.locator(".st-key-variant-2 .stPopover button").first.click(timeout=PATIENCE_MS)
    options = page.get_by_role("combobox", name="Vary an option")
    options.fill("intra thr", timeout=PATIENCE_MS)
    page.get_by_role("option", name="Intra-op threads").click(timeout=PATIENCE_MS)
    page.wait_for_url(re.compile("last~intra_threads%3D2"), timeout=PATIENCE_MS)
    page.keyboard.press("Escape")
    wait_for(page, "Intra-op threads: 2")
    page.locator(".st-key-remove-0 button").first.click(timeout=PATIENCE_MS)
    page.wait_for_url(re.compile("race=last%2Clast~intra_threads%3D2"), timeout=PATIENCE_MS)
    page.reload()
    wait_for(page, re.compile("portable preset, intra_threads=2"))
    expect(page.locator(".st-key-remove-0 button").first).to_be_disabled(timeout=PATIENCE_MS)


def test_an_unraced_model_shows_a_recording_greyed_and_labelled(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?model=tour&race=source%2C11")
    label = page.locator(".st-key-earlier-label")
    said = re.compile(
        "(Your last recording|A recording that comes with Passlens).*Recorded on", re.S
    )
    expect(label).to_contain_text(said, timeout=PATIENCE_MS)
    chart = page.locator(".st-key-earlier-figures-race .stPlotlyChart").first
    expect(chart).to_have_css("filter", "grayscale(1)", timeout=PATIENCE_MS)
    press(page, "Open in History")
    page.wait_for_url(re.compile(r"/history\?.*record(ed)?="), timeout=PATIENCE_MS)


def test_a_set_of_variants_is_one_click(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?model=tour&{PLAIN}")
    press(page, "Compare…")
    page.get_by_role("button", name="Source / last step / presets").click(timeout=PATIENCE_MS)
    page.wait_for_url(re.compile("race=source%2Clast%2Ccpu"), timeout=PATIENCE_MS)


def test_contradictory_options_leave_the_results_and_are_mended_beside_the_button(
    page: Page, app_url: str
) -> None:
    page.goto(f"{app_url}/run?model=tour&race=source%2C20&seconds=2&as=bare")
    button = page.get_by_role("button", name=re.compile("^(Race|Run again)$")).first
    expect(button).to_be_enabled(timeout=PATIENCE_MS)
    if button.inner_text() == "Race":
        button.click()
    again = page.get_by_role("button", name="Run again")
    expect(again).to_be_enabled(timeout=PATIENCE_MS)
    look_for(page, "spin")
    page.get_by_text("Idle threads spin", exact=True).click(timeout=PATIENCE_MS)
    said = page.locator(".st-key-launch-race .st-key-quiet-options")
    expect(said).to_contain_text("nobody to spin", timeout=PATIENCE_MS)
    expect(said).to_be_in_viewport()
    expect(again).to_be_disabled()
    wait_for(page, "Speedup against source")
    said.get_by_role("button", name="Idle threads spin: off").click()
    expect(said).to_have_count(0, timeout=PATIENCE_MS)
    expect(again).to_be_enabled(timeout=PATIENCE_MS)
    wait_for(page, "Speedup against source")


def test_options_are_found_by_a_word_and_those_changed_are_listed_alone(
    page: Page, app_url: str
) -> None:
    page.goto(f"{app_url}/run?model=tour&set=intra_threads=2&{PLAIN}")
    look_for(page, "µs spin")
    duration = page.get_by_role("spinbutton", name="Spin duration, µs")
    expect(duration).to_be_visible(timeout=PATIENCE_MS)
    threads = page.get_by_role("spinbutton", name="Intra-op threads")
    expect(threads).to_have_count(0)
    tip = page.locator(".st-key-option-spin_duration_us").get_by_test_id("stTooltipHoverTarget")
    tip.hover()
    wait_for(page, "spin_duration_us")
    look_for(page, "")
    page.get_by_text("CPU", exact=True).click(timeout=PATIENCE_MS)
    page.get_by_text("Memory arena", exact=True).click(timeout=PATIENCE_MS)
    wait_for(page, "CPU · 1 changed")
    page.get_by_text("Memory arena", exact=True).click(timeout=PATIENCE_MS)
    page.get_by_text("Changed only (1)").click(timeout=PATIENCE_MS)
    expect(threads).to_have_value("2", timeout=PATIENCE_MS)
    expect(duration).to_have_count(0)
    press(page, "Reset")
    wait_for(page, "No changed option yet.")


def look_for(page: Page, text: str) -> None:
    field = page.get_by_role("textbox", name="Find an option")
    field.fill(text, timeout=PATIENCE_MS)
    field.press("Enter")


def test_a_section_is_in_the_link(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/run?model=tour")
    page.get_by_role("radio", name="CUDA Graph").click(timeout=PATIENCE_MS)
    page.wait_for_url(re.compile("section=capture"), timeout=PATIENCE_MS)
    page.reload()
    expect(page.get_by_role("radio", name="CUDA Graph")).to_be_checked(timeout=PATIENCE_MS)


def test_the_bar_fits_at_1024_px(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(f"{app_url}/history?model=whisper-encoder")
    bar = page.get_by_role("navigation")
    names = ("Model", "Rewrite", "Run", "Memory", "Cost", "Layout", "Precision", "History")
    boxes = [bar.get_by_role("link", name=name, exact=True).bounding_box() for name in names]
    button = page.get_by_role("button", name="Whisper encoder: open another model")
    expect(button).to_be_visible(timeout=PATIENCE_MS)
    title = button.bounding_box()
    assert all(box is not None for box in boxes)
    last = boxes[-1]
    assert last is not None
    assert title is not None
    assert last["x"] + last["width"] <= title["x"]
