"""Where a film opens, and what the page hears of where somebody has gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from viewer_scripts import told

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]
TOLD = "window.__sent.map(([kind, name, value]) => [kind, name, value.film, value.event])"


def at(page: Page, place: int) -> None:
    """Wait until that event is shown."""
    page.wait_for_function(f"__passlens.film.at === {place}")


def test_it_opens_at_the_event_of_the_link_and_tells_nothing(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film&event=12")
    at(page, 12)
    page.keyboard.press("f")
    page.keyboard.press("E")
    told(page)
    assert page.evaluate(TOLD) == []


def test_playing_goes_on_from_the_event_of_the_link(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film&event=12")
    page.keyboard.press(" ")
    page.wait_for_function("__passlens.film.playing && __passlens.film.at > 12")


def test_an_event_beyond_the_last_is_passed_over(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    largest = page.evaluate("__passlens.film.at")
    at(opened("fixture=cnn8&mode=film&event=131"), largest)
    at(opened("fixture=cnn8&mode=film&event=130"), 130)


def test_somebody_who_has_come_to_rest_is_told_of_once(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film")
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    told(page)
    assert page.evaluate(TOLD) == [["state", "event", "film-cnn8", 2]]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    told(page)
    assert len(page.evaluate(TOLD)) == 1


def test_nothing_is_told_while_it_plays(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film&event=1")
    page.get_by_role("combobox", name="Playing speed").select_option("2")
    page.locator(".pl-root").focus()
    page.keyboard.press(" ")
    page.wait_for_function("__passlens.film.at > 4", timeout=120_000)
    assert page.evaluate("__passlens.film.playing")
    assert page.evaluate(TOLD) == []
    page.keyboard.press(" ")
    told(page)
    here = page.evaluate("__passlens.film.at")
    assert page.evaluate(TOLD) == [["state", "event", "film-cnn8", here]]


def test_what_the_page_answers_moves_nothing(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film&event=12")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("window.__sent.length === 1")
    page.keyboard.press("ArrowRight")
    page.evaluate("update({ event: 13 })")
    told(page)
    at(page, 14)
    assert page.evaluate(TOLD)[1:] == [["state", "event", "film-cnn8", 14]]


def test_another_film_with_as_many_events_is_told_where_it_stands(opened: Opened) -> None:
    page = opened("fixture=cnn8&mode=film&event=12")
    page.evaluate("update({ film: { key: 'other', url: '/film/cnn8.json' }, event: null })")
    page.wait_for_function("window.__sent.length === 1")
    assert page.evaluate(TOLD) == [["state", "event", "other", 12]]
    at(page, 12)
