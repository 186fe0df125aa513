"""The film by keyboard alone: who has the keys, where one sees it, the sheet that lists them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
FILM = "fixture=cnn8&mode=film&event=60"
STOPS = [
    "Details panel (d)", "Find a node (/)", "Zoom out (−)", "Zoom in (+)",
    "Save this drawing", "Fit the graph (f)",
    "Free blocks by size", "Nothing allocated (Home)", "Previous node ([)", "Previous event (←)",
    "Play (space)", "Next event (→)", "Next node (])", "Last event (End)",
    "Event of the allocator", "Height of the bars", "Playing speed (< and >)",
]  # fmt: skip
FOCUSED = "shadow.activeElement?.getAttribute('aria-label')"
RING = """() => {
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(shadow.activeElement);
  return [outlineStyle, outlineWidth, outlineColor].join(" ");
}"""


def at(page: Page, place: int) -> None:
    """Wait until that event is shown."""
    page.wait_for_function(f"__passlens.film.at === {place}")


@pytest.mark.parametrize(("look", "ring"), [("", "47, 98, 208"), ("&dark", "109, 155, 255")])
def test_tab_goes_round_every_control_with_a_ring_around_it_and_on(
    opened: Opened, look: str, ring: str
) -> None:
    page = opened(FILM + look)
    for name in STOPS:
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUSED) == name
        assert page.evaluate(RING) == f"solid 2px rgb({ring})", name
    page.keyboard.press("Tab")
    assert page.evaluate("shadow.activeElement") is None
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED) == STOPS[-1]


@pytest.mark.parametrize("name", ["Event of the allocator", "Next event (→)", "Zoom in (+)"])
def test_the_keys_of_the_film_work_wherever_the_keyboard_is(opened: Opened, name: str) -> None:
    page = opened(FILM)
    page.get_by_label(name, exact=True).focus()
    for key, place in (("Home", 0), ("ArrowRight", 1), ("End", 130), ("ArrowLeft", 129)):
        page.keyboard.press(key)
        at(page, place)
        assert page.evaluate(FOCUSED) == name


def test_a_list_of_choices_keeps_its_own_keys_and_leaves_the_signs_to_the_film(
    opened: Opened,
) -> None:
    page = opened(FILM)
    speed = page.get_by_role("combobox", name="Playing speed")
    speed.focus()
    page.keyboard.press(">")
    expect(speed).to_have_value("2")
    page.keyboard.press("<")
    expect(speed).to_have_value("1")
    page.keyboard.press("ArrowDown")
    expect(speed).to_have_value("2")
    at(page, 60)
    page.keyboard.press("]")
    page.wait_for_function("__passlens.film.at > 60")


def test_the_arrows_scroll_the_free_list_that_has_the_keyboard(opened: Opened) -> None:
    page = opened(FILM)
    free = page.get_by_role("list", name="Free blocks by size")
    free.evaluate("(list) => { list.style.height = '20px'; list.scrollTop = 0; list.focus(); }")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("shadow.querySelector('.pl-free ol').scrollTop > 0")
    at(page, 60)


def test_a_button_pressed_by_key_keeps_the_keyboard(opened: Opened) -> None:
    page = opened(FILM)
    button = page.get_by_role("button", name="Zoom in (+)")
    button.focus()
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUSED) == "Zoom in (+)"
    button.click()
    assert page.evaluate("shadow.activeElement.className").startswith("pl-root")


@pytest.mark.parametrize("close", ["Escape", "?"])
def test_the_sheet_of_keys_has_the_keyboard_and_gives_it_back(opened: Opened, close: str) -> None:
    page = opened(FILM)
    page.get_by_role("slider", name="Event of the allocator").focus()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    for text in ("previous, next event", "previous, next node", "slower, faster", "last event"):
        expect(sheet.get_by_text(text)).to_be_visible()
    for key in ("Tab", "ArrowLeft", "End", " "):
        page.keyboard.press(key)
        assert page.evaluate("shadow.activeElement.className") == "pl-sheet"
    assert page.evaluate("[__passlens.film.at, __passlens.film.playing]") == [60, False]
    page.keyboard.press(close)
    expect(sheet).to_be_hidden()
    assert page.evaluate(FOCUSED) == "Event of the allocator"


def test_a_node_that_was_found_leads_to_where_it_runs(opened: Opened) -> None:
    page = opened(FILM)
    page.keyboard.press("d")
    page.keyboard.press("/")
    page.keyboard.type("n4")
    page.keyboard.press("Enter")
    heading = page.locator(".pl-details h2")
    expect(heading).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("search")).to_be_hidden()
    found = page.locator(".pl-id").inner_text()
    page.keyboard.press("g")
    page.wait_for_function("__passlens.film.at !== 60")
    assert page.evaluate("__passlens.film.node") in found
    expect(heading).to_be_hidden()


def test_escape_clears_the_selection(opened: Opened) -> None:
    page = opened(FILM)
    page.keyboard.press("d")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".pl-details h2")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".pl-details h2")).to_be_hidden()
    at(page, 60)
