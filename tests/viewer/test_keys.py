"""Keys work on the whole page wherever nobody types, and every button gives them back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
REST = "shadow.activeElement?.blur()"
ACTIVE = "shadow.activeElement?.className ?? ''"
WIDGETS = """
  <input id="text"><textarea id="area"></textarea><select id="choice"><option>1</select>
  <div id="edited" contenteditable>text</div><div id="thumb" role="slider" tabindex="0">1</div>
  <div role="grid"><button id="cell">cell</button></div>
"""


def arrive(opened: Opened, query: str) -> Page:
    """A page on which nothing was pressed: the keyboard is with its body."""
    page = opened(query)
    page.evaluate(REST)
    assert page.evaluate("document.activeElement === document.body && !shadow.activeElement")
    return page


def add_widgets(page: Page) -> None:
    """Put controls of the page beside the viewer."""
    page.evaluate("(html) => document.body.insertAdjacentHTML('afterbegin', html)", WIDGETS)


def at_step(page: Page, step: int) -> None:
    """Wait until that step is shown."""
    page.wait_for_function(f"__passlens.step === {step}")


def test_keys_step_play_and_search_before_anything_was_clicked(opened: Opened) -> None:
    page = arrive(opened, "fixture=cnn8&step=0")
    page.keyboard.press("ArrowRight")
    at_step(page, 1)
    page.keyboard.press("End")
    at_step(page, 29)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.evaluate(REST)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_keys_of_the_model_and_of_a_film_work_on_arrival(opened: Opened) -> None:
    page = arrive(opened, "fixture=cnn8&mode=film&event=60")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("__passlens.film.at === 61")
    page = arrive(opened, "fixture=cnn8&mode=model")
    before = page.evaluate("__passlens.visible")
    page.keyboard.press("E")
    page.wait_for_function(f"__passlens.visible < {before}")


def test_whoever_types_elsewhere_on_the_page_moves_nothing(opened: Opened) -> None:
    page = arrive(opened, "fixture=cnn8&step=3")
    add_widgets(page)
    for field in ("text", "area", "choice", "edited", "thumb", "cell"):
        page.locator(f"#{field}").focus()
        for key in ("ArrowRight", "f", "End", "]", "/", " "):
            page.keyboard.press(key)
        assert page.evaluate("__passlens.step") == 3, field
        assert page.evaluate("document.activeElement.id") == field
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    at_step(page, 4)


def test_keys_rest_while_the_viewer_is_scrolled_away_or_a_dialog_is_open(opened: Opened) -> None:
    page = arrive(opened, "fixture=cnn8&step=3")
    page.evaluate("host.style.marginTop = '700px'")
    page.keyboard.press("ArrowRight")
    page.evaluate("host.style.marginTop = ''")
    page.evaluate("document.body.ariaModal = 'true'")
    page.keyboard.press("ArrowRight")
    page.evaluate("document.body.ariaModal = null")
    page.keyboard.press("ArrowLeft")
    at_step(page, 2)


@pytest.mark.parametrize("press", ["mouse", "keyboard"])
def test_the_first_rewrite_is_followed_by_keys(opened: Opened, press: str) -> None:
    page = arrive(opened, "fixture=cnn8&step=0")
    first = page.locator(".pl-first")
    if press == "mouse":
        first.click()
    else:
        first.press("Enter")
    at_step(page, 1)
    assert page.evaluate(ACTIVE).startswith("pl-root")
    page.keyboard.press(" ")
    page.wait_for_function("__passlens.step > 1")


def test_every_control_pressed_with_the_mouse_gives_the_keys_back(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=3")
    page.get_by_role("button", name="Next step (→)").click()
    assert page.evaluate(ACTIVE).startswith("pl-root")
    for control in (
        page.locator("input[data-pass=fuse-conv-relu]"),
        page.locator(".pl-fam").first,
        page.get_by_role("button", name="previous", exact=True),
        page.locator(".pl-declined").first,
        page.get_by_text("Nodes as a list"),
        page.get_by_role("button", name="Copy id"),
    ):
        control.click()
        page.wait_for_function(f"({ACTIVE}).startsWith('pl-root')")
    box = page.locator("input[data-pass=fuse-gelu]")
    box.focus()
    page.keyboard.press(" ")
    assert page.evaluate("shadow.activeElement.dataset.pass") == "fuse-gelu"
    page.keyboard.press("ArrowRight")
    at_step(page, 5)
