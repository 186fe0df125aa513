"""The page Schedule in a browser: keys alone, the slider, what is shared."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from optimizer.schedules.document import view_of
from optimizer.schedules.examples import EXAMPLES
from tests.studio.browsing import PATIENCE_MS, POLLING_MS

pytestmark = pytest.mark.browser


def arrive(page: Page, url: str, query: str = "loops=blur&order=tiled") -> None:
    """Go there, and wait until a nest is drawn."""
    page.goto(f"{url}/schedule?{query}")
    until(page, "lab.steps > 0")


def until(page: Page, condition: str) -> dict[str, Any]:
    """Wait for what the page says of itself."""
    page.wait_for_function(
        f"(lab => lab && !lab.waiting && ({condition}))(window.__passlens_schedule)",
        polling=POLLING_MS,
        timeout=PATIENCE_MS,
    )
    return page.evaluate("window.__passlens_schedule")


def test_keys_alone_add_move_switch_and_undo_a_primitive(page: Page, app_url: str) -> None:
    arrive(page, app_url)
    page.keyboard.press("a")
    page.keyboard.type("vec")  # a list of choices finds it by its name
    page.keyboard.press("Tab")
    page.keyboard.type("blur_x")
    page.keyboard.press("Tab")
    page.keyboard.type("x")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    added = until(page, "lab.primitives.length === 6")
    assert added["primitives"][-1] == "blur_x.vectorize(x)"
    assert (added["step"], added["steps"]) == (6, 6)
    expect(page.get_by_role("listitem").filter(has_text="vector x 32")).to_have_count(1)
    page.get_by_role("button", name="blur_x.vectorize(x)", exact=True).focus()
    page.keyboard.press("Alt+ArrowUp")
    moved = until(page, "lab.primitives[4] === 'blur_x.vectorize(x)'")
    assert moved["step"] == 5
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    until(page, "lab.steps === 5 && lab.primitives.length === 6")
    for _ in range(3):
        seq = until(page, "true")["seq"]
        page.keyboard.press("Control+z")
        until(page, f"lab.seq > {seq}")
    assert len(until(page, "lab.primitives.length === 5")["primitives"]) == 5


def test_a_primitive_is_dragged_to_the_place_of_another(page: Page, app_url: str) -> None:
    arrive(page, app_url)
    before = until(page, "true")["primitives"]
    grips = page.locator(".sl-list .sl-grip")
    grips.nth(0).drag_to(grips.nth(2))
    expected = [*before[1:3], before[0], *before[3:]]
    until(page, f"JSON.stringify(lab.primitives) === JSON.stringify({expected!r})")


def test_going_through_all_steps_sends_nothing_to_the_server(page: Page, app_url: str) -> None:
    sent: list[object] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", listen)
    arrive(page, app_url)
    page.wait_for_function(
        "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"
    )
    before = len(sent)
    page.keyboard.press("Home")
    expect(page.get_by_role("heading", name="Before the first primitive")).to_be_visible()
    for step in range(1, 6):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("heading", name=f"After primitive {step}")).to_be_visible()
    blur = EXAMPLES["blur"]
    tiled = next(one.schedule for one in blur.schedules if one.name == "tiled")
    last = view_of(blur.title, blur.algorithm, tiled).steps[-1]
    expect(page.get_by_role("region", name="Time")).to_contain_text("ms guessed")
    for warning in last.warnings:
        row = page.get_by_role("region", name="Warnings").get_by_role("listitem")
        expect(row.filter(has_text=warning.advice).first).to_contain_text(warning.func)
    assert last.warnings
    page.keyboard.press("ArrowLeft")
    assert until(page, "lab.step === 4")["steps"] == 5
    assert len(sent) == before
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("textbox", name="Link to what you see")).to_have_value(
        r"" + f"{page.url}&at=4"
    )


def test_a_refusal_stands_at_its_primitive_and_boxes_that_stay_are_the_same_elements(
    page: Page, app_url: str
) -> None:
    arrive(page, app_url)
    page.evaluate(
        "box => { box.kept = true; }",
        page.get_by_role("listitem").filter(has_text="produce blur_y").element_handle(),
    )
    page.get_by_role("checkbox", name="Apply blur_y.split(x, xo, xi, 32)").uncheck()
    until(page, "lab.steps === 4")
    row = page.get_by_role("listitem").filter(has_text="blur_y.reorder(yo, xo, yi, xi)")
    expect(row).to_contain_text("Left out: ")
    kept = page.get_by_role("listitem").filter(has_text="produce blur_y")
    assert kept.evaluate("box => box.kept")
