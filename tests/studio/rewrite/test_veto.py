"""A veto in the real app: the place stays as it is, and one sees what that cost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Response, WebSocketRoute, expect

from tests.studio import browsing
from tests.studio.browsing import PATIENCE_MS

pytestmark = pytest.mark.browser


def opened(page: Page, url: str, step: int) -> None:
    browsing.opened(page, url, f"__passlens.step === {step}")


def veto(page: Page) -> Locator:
    """Veto the step that is shown; the note that tells what it cost."""
    page.get_by_role("button", name="Do not make this rewrite").click()
    note = page.locator(".pl-toast")
    expect(note).to_be_visible(timeout=PATIENCE_MS)
    return note


def traces_of(page: Page) -> list[Response]:
    """The answers in which traces come to the page, oldest first."""
    found: list[Response] = []

    def look(answer: Response) -> None:
        if "/api/steps/" in answer.url:
            found.append(answer)

    page.on("response", look)
    return found


def test_a_vetoed_place_stays_as_it_is_and_undo_brings_the_rewrite_back(
    page: Page, app_url: str
) -> None:
    traces = traces_of(page)
    opened(page, f"{app_url}/?model=tour&step=21", 21)
    note = veto(page)
    expect(note).to_contain_text("Vetoed. No other step changes.")
    assert re.search(r"[?&]step=21(&|$)", page.url)
    assert "veto=6075098cbfda" in page.url
    before, after = (traces[i].json()["steps"] for i in (0, -1))
    assert before[20]["removed"] == ["n194", "n193"]
    assert not [step for step in after if {"n193", "n194"} & set(step["removed"])]
    listed = page.get_by_role("button", name="Vetoed 1")
    expect(listed).to_be_in_viewport()
    expect(page.locator(".pl-card")).to_contain_text("2 nodes as before")
    note.get_by_role("button", name="Undo").click()
    expect(page.locator(".pl-card")).to_contain_text("Step 21 of 53", timeout=PATIENCE_MS)
    expect(listed).to_be_hidden()
    assert re.search(r"[?&]step=21(&|$)", page.url)
    assert "veto=" not in page.url


class Line:
    """The connection to the server, on which the message of a veto can be lost."""

    def __init__(self, page: Page) -> None:
        self.loses = False
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def send(message: str | bytes) -> None:
            if self.loses and isinstance(message, bytes) and b'"veto"' in message:
                self.loses = False
            else:
                server.send(message)

        socket.on_message(send)


def test_a_veto_is_heard_though_its_message_is_overtaken_and_dropped(
    page: Page, app_url: str
) -> None:
    """As Streamlit does while a machine is busy; here the next one tells where one looks."""
    line = Line(page)
    opened(page, f"{app_url}/?model=tour&step=20", 20)
    expect(page.locator("#first-picture")).not_to_be_attached(timeout=PATIENCE_MS)
    line.loses = True
    page.get_by_role("button", name="Do not make this rewrite").click()
    while line.loses:
        page.wait_for_timeout(20)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pl-toast")).to_be_visible(timeout=PATIENCE_MS)


def test_what_another_pass_does_with_the_place_is_offered_not_assumed(
    page: Page, app_url: str
) -> None:
    opened(page, f"{app_url}/?model=tour&step=6", 6)
    expect(veto(page)).to_contain_text("Vetoed. 1 later step is new.")
    card = page.locator(".pl-card")
    expect(card).to_contain_text("Work out sizes ahead of time rewrites this place now, step 15")
    card.get_by_role("button", name="Veto it too").click()
    expect(page.get_by_role("button", name="Vetoed 2")).to_be_visible(timeout=PATIENCE_MS)
    assert re.search(r"[?&]step=6(&|$)", page.url)


def test_a_constant_dropped_elsewhere_is_no_change(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=tour&step=2", 2)
    expect(veto(page)).to_contain_text("Vetoed. No other step changes.")


def test_card_and_camera_stay_at_the_vetoed_place(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?model=bert&step=250", 250)
    where = "__passlensWhere('/m/encoder/layer.3/attention/self')"
    page.wait_for_function(f"{where}?.y > 100 && {where}.y < innerHeight", timeout=PATIENCE_MS)
    stood = page.evaluate(where)
    veto(page)
    expect(page.locator(".pl-card .pl-path")).to_contain_text("layer.3/attention/self")
    stands = page.evaluate(where)
    assert abs(stands["x"] - stood["x"]) < 40
    assert abs(stands["y"] - stood["y"]) < 40
    assert re.search(r"[?&]step=250(&|$)", page.url)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".pl-card")).to_contain_text("Step 251 of 282", timeout=PATIENCE_MS)
    expect(page.locator(".pl-toast")).to_be_hidden()
