"""What the card of a step says and draws, and where tips stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]


def covers(page: Page, rect: Mapping[str, float] | FloatRect) -> bool:
    """Whether the tip that shows lies over a rectangle."""
    tip = page.locator(".pl-tip").bounding_box()
    assert tip is not None
    apart = (
        tip["x"] >= rect["x"] + rect["width"]
        or tip["x"] + tip["width"] <= rect["x"]
        or tip["y"] >= rect["y"] + rect["height"]
        or tip["y"] + tip["height"] <= rect["y"]
    )
    return not apart


def test_a_step_that_only_drops_weights_draws_them(opened: Opened) -> None:
    page = opened("fixture=wide&step=61")
    card = page.locator(".pl-card")
    assert "3 copies → 1, −40.5 KiB" in card.inner_text()
    assert card.locator(".pl-weight.pl-removed").count() == 2
    assert card.locator(".pl-weight.pl-matched").count() == 2
    assert card.locator("canvas").count() == 0
    page.keyboard.press("ArrowRight")
    page.wait_for_function("__passlens.step === 62")
    assert "1 unused weight → 0, −20.3 KiB" in card.inner_text()


def test_the_card_tells_what_was_found_apart_from_when_it_is_safe(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=3")
    headings = page.locator(".pl-card h3").all_inner_texts()
    assert headings[:2] == ["Why here", "When it is safe"]
    card = page.locator(".pl-card").inner_text()
    assert "No other consumer sees the matched nodes" in card
    assert "The first output has one consumer." in card


def test_while_optimizing_nobody_is_told_there_are_no_rewrites(opened: Opened) -> None:
    page = opened("fixture=cnn8")
    busy = "{ text: 'Optimizing: fuse-gelu', fraction: 0.4, cancel: true }"
    graph = "{ key: 'g-cnn4', url: '/graph/cnn4.json' }"
    page.evaluate(f"update({{ steps: null, graph: {graph}, busy: {busy} }})")
    page.wait_for_function("__passlens.ready && __passlens.total < 60")
    assert page.locator(".pl-card h2").inner_text() == "Optimizing"
    assert "optimizing" in page.locator(".pl-head").last.inner_text()
    page.evaluate("update({ busy: null })")
    page.get_by_role("heading", name="No rewrites yet").wait_for()
    assert "no rewrites yet" in page.locator(".pl-head").last.inner_text()


def test_where_no_pass_is_on_nobody_is_told_that_passes_found_nothing(opened: Opened) -> None:
    page = opened("fixture=tour-none")
    heading = page.locator(".pl-card h2")
    assert heading.inner_text() == "Nothing to rewrite"
    page.evaluate("""update({ pipeline: { preset: "none", presets: ["none"], enabled: [] } })""")
    assert heading.inner_text() == "No pass is on"
    assert "found a place" not in page.locator(".pl-card").inner_text()


def test_where_passes_could_not_run_the_card_does_not_ask_to_switch_them_on(opened: Opened) -> None:
    page = opened("fixture=folding&mode=model")
    page.evaluate(
        "update({ mode: 'rewrite', message: { kind: 'error', text: 'The plan is gone.' } })"
    )
    assert page.locator(".pl-card h2").inner_text() == "Nothing was rewritten"
    assert "Switch passes on" not in page.locator(".pl-card").inner_text()
    page.evaluate("update({ message: null })")
    assert page.locator(".pl-card h2").inner_text() == "No rewrites yet"


def test_a_tip_never_covers_what_it_explains(opened: Opened) -> None:
    page = opened("fixture=cnn8&step=0")
    for ident in ("i0", "n0", "n1", "n3", "/layer1/block.0"):
        box = page.evaluate("(id) => __passlensWhere(id, 1)", ident)
        tall = 12 if box["kind"] == "open" else box["height"]
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + tall / 2)
        page.locator(".pl-tip").wait_for()
        assert not covers(page, {**box, "height": tall}), ident
        page.mouse.move(2, 2)
        page.locator(".pl-tip").wait_for(state="hidden")
    strip = page.get_by_role("slider", name="Rewrite step").bounding_box()
    assert strip is not None
    page.mouse.move(strip["x"] + 90, strip["y"] + strip["height"] / 2)
    page.locator(".pl-tip").wait_for()
    assert not covers(page, strip)
    page.mouse.move(2, 2)
    row = page.locator(".pl-pass").first
    row.hover()
    page.locator(".pl-tip").wait_for()
    frame = row.bounding_box()
    assert frame is not None
    assert not covers(page, frame)
